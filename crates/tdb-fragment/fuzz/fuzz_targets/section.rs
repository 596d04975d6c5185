#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_fragment_fuzz::section(data));

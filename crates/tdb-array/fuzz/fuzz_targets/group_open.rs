#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_array_fuzz::group_open(data));

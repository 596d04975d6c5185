#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_storage_fuzz::manifest(data));

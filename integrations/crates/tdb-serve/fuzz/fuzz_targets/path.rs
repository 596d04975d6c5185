#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_serve_fuzz::path(data));

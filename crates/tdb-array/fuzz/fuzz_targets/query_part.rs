#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_array_fuzz::query_part(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_exchange_fuzz::cell(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_datafusion_fuzz::scan_pieces(data));

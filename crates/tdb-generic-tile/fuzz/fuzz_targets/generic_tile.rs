#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_generic_tile_fuzz::generic_tile(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_zarr_fuzz::import(data));

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_rtree_fuzz::nd_range(data));

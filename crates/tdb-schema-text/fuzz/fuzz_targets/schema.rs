#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tdb_schema_text_fuzz::schema(data));

//! Integration tests of the public interface of `tdb-schema-text`.
#![allow(clippy::unwrap_used)] // helpers belong to the tests

mod fixtures;
mod fuzz_replay;

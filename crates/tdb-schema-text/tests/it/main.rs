//! Tests of the public interface of `tdb-schema-text`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod fixtures;
mod fuzz_replay;

//! Tests of the public interface of `tdb-metadata`, in one binary.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod fuzz_replay;
mod properties;

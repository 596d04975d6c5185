//! Tests of the public interface of `tdb-rtree`, in one binary.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod boxes;
mod ends;
mod fuzz_replay;
mod messages;
mod properties;
mod trees;

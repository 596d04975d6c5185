//! Tests of the public interface of `tdb-fragment`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod fixtures;
mod fuzz_replay;
mod layouts;
mod round_trip;
mod support;

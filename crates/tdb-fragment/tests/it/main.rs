//! Integration tests of the public interface of `tdb-fragment`.
#![allow(clippy::unwrap_used)] // helpers belong to the tests

mod fixtures;
mod fuzz_replay;
mod layouts;
mod round_trip;
mod support;

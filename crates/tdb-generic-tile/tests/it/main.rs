//! Integration tests of the public interface of `tdb-generic-tile`.
#![allow(clippy::unwrap_used)] // helpers belong to the tests

mod fixtures;
mod fuzz_replay;
mod messages;
mod properties;

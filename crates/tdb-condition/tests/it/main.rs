//! Integration tests of the public interface of `tdb-condition`.
#![allow(clippy::unwrap_used)] // helpers belong to the tests

mod any_condition;
mod bounds;
mod evaluate;
mod fuzz_replay;
mod golden;
mod stored;
mod text;

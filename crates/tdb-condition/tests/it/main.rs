//! Tests of the public interface of `tdb-condition`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod any_condition;
mod bounds;
mod evaluate;
mod fuzz_replay;
mod golden;
mod stored;
mod text;

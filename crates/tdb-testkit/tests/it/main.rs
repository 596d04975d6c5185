//! Tests of the public interface of `tdb-testkit`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod docs;
mod faulty;
mod fixtures;

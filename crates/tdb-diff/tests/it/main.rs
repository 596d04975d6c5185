//! Tests of the public interface of `tdb-diff`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod diff;

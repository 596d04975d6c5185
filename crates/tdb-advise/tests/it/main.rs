//! Tests of the public interface of `tdb-advise`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod advise;

//! Tests of the public interface of `tdb-report`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod browser;
mod pages;
mod support;

//! Tests of the public interface of `tdb-relocate`, one program.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod relocate;
#[path = "../../../tdb-maintain/tests/it/support/mod.rs"]
mod support;

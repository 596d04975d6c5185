//! Tests of the public interface of `tdb-relocate`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

mod relocate;
#[path = "../../../tdb-maintain/tests/it/support/mod.rs"]
mod support;

//! Tests of the public interface of `tdb-diff`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

mod diff;

//! Tests of the public interface of `tdb-advise`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

mod advise;

//! Tests of the public interface of `tdb-report`, in one program.
#![allow(clippy::unwrap_used)] // test helpers may panic

mod browser;
mod pages;
mod support;

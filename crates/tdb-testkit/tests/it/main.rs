//! Tests of the public interface of `tdb-testkit`, in one program.
#![allow(clippy::unwrap_used)] // test helpers may panic

mod docs;
mod faulty;
mod fixtures;

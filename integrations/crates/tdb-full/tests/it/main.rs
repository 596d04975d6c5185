//! Tests of the public interface of `tdb-full`, as one program.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

mod bounds;
mod cluster;
mod command;
mod export;
mod import;
mod jobs;
mod judged;
mod others;
mod prompt;
mod roundtrip;
mod secrets;
mod sql;
mod zarr;

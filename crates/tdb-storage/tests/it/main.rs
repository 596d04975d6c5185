//! Tests of the public interface of `tdb-storage`, in one binary.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod coalesce;
mod conformance;
mod counting;
mod fuzz_replay;
mod local;
mod manifest;
mod messages;
mod model;

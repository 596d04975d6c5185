//! Tests of the public interface of `tdb-filters`, in one binary.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod ahead;
mod common;
mod errors;
mod fixtures;
mod fuzz_replay;
mod golden;
mod images;
mod lossy_images;
mod lost_bytes;
mod many;
mod properties;

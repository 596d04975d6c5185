//! Arrays and groups as Zarr, and back.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod fixtures;
mod support;

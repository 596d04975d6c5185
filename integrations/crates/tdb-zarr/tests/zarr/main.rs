//! Arrays and groups as Zarr, and back.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod boxes;
mod fixtures;
mod groups;
mod hostile;
mod marks;
mod properties;
mod python;
mod support;

//! Arrays and groups as Zarr, and back.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

mod bounds;
mod boxes;
mod fixtures;
mod folders;
mod fuzz_replay;
mod groups;
mod hostile;
mod marks;
mod properties;
mod python;
mod shards;
mod support;

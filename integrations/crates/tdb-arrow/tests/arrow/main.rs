//! Arrays as Arrow's record batches, and back.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

mod definitions;
mod fixtures;
mod pointers;
mod properties;
mod pyarrow;
mod refused;
mod support;
mod values;

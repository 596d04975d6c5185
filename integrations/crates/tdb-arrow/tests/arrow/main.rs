//! Arrays as Arrow record batches, and back.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

mod definitions;
mod fixtures;
mod pointers;
mod properties;
mod pyarrow;
mod refused;
mod support;
mod values;

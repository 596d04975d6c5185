//! Tests of the public interface of `tdb-maintain`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

mod alone;
mod bytes;
mod faults;
mod fixtures;
mod fragments_copied;
mod fragments_faults;
mod fragments_fixtures;
mod fragments_memory;
mod fragments_model;
mod fragments_rules;
mod fragments_support;
mod journals;
mod memory_support;
mod rules;
mod support;

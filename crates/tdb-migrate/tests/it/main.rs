//! Tests of the public interface of `tdb-migrate`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

#[path = "../../../tdb-maintain/tests/it/fragments_support/mod.rs"]
mod fragments_support;
mod interrupted;
#[path = "../../../tdb-maintain/tests/it/memory_support/mod.rs"]
mod memory_support;
mod migrate;
mod migrate_floats;
mod migrate_groups;
mod migrate_labels;
mod migrate_memory;
mod migrate_wide;
mod relocate_kept;
#[path = "../../../tdb-maintain/tests/it/support/mod.rs"]
mod support;

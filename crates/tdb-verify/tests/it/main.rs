//! Tests of the public interface of `tdb-verify`, in one binary.
#![allow(clippy::unwrap_used)] // test helpers

mod corruption;
mod doctor;
mod doctor_labels;
#[path = "../../../tdb-maintain/tests/it/fragments_support/mod.rs"]
mod fragments_support;
mod fuzz_replay;
mod meanwhile;
mod of_2_21_1;
mod rebuild;
#[path = "../../../tdb-maintain/tests/it/support/mod.rs"]
mod support;
mod verify_fixtures;
mod verify_named;
mod verify_run;
mod verify_statistics;

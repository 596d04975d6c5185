//! Integration tests of the public interface of `tdb-schema`.
#![allow(clippy::unwrap_used)] // helpers belong to the tests

mod allocations;
mod dictionary;
mod enumeration_room;
mod fixtures;
mod fuzz_replay;
mod global_order;
mod golden;
mod refused;
mod round_trip;
mod support;

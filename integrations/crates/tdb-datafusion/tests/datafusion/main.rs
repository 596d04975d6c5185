//! Arrays as tables, compared with the same cells in memory.

#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

mod again;
mod bands;
mod changes;
mod concurrent;
mod docs;
mod enumerations;
mod errors;
mod examples;
mod fixtures;
mod fuzz_replay;
mod limits;
mod names;
mod pieces;
mod plans;
mod random;
mod slt;
mod statements;
mod support;
mod types;

//! Conformance tests: random arrays written and read by the reference library and by tdb.
//!
//! - `command`: arguments of `cargo xtask conformance`
//! - `examine`: runs a case on both sides
//! - `facts`: compares schemas and fragments of two arrays
//! - `selected`: compares the cells that both sides read for a selection
//! - `chosen`: evaluates a selection over all cells of an array
//! - `both_write`: the same array written by both sides
//! - `aggregates`: aggregates computed by both sides
//!
//! Cases and their runner come from [`tdb_cases`]. The kinds of cases:
//!
//! - `read`: arrays written by the newest release, and optionally by tdb too
//! - `create` and `change`: arrays created and changed by both sides
//! - `on_store`: arrays of `read`, `query` and `write` on a store
//! - `filters`: filter chains
//! - `soak`: readers of both sides during writes and maintenance by both (no cases)
//! - `corruption`: damaged fixtures, verified by tdb and read by both sides (no cases)
//! - `maintain`: arrays written and maintained by both sides alternately
//! - `releases`: arrays written by older releases
//! - `migrate`: arrays migrated by tdb to the formats of older releases, and read by these releases
//! - `old_formats`: arrays of older formats written by tdb, and read by the releases of these
//!   formats
#![forbid(unsafe_code)]

mod aggregates;
mod both_write;
mod by_release;
mod change;
mod command;
mod corruption;
mod create;
mod examine;
mod facts;
mod filters;
mod maintain;
mod migrate;
mod old_formats;
mod read;
mod releases;
mod selected;
mod soak;

pub use command::{Arguments, CaseArguments, run, run_on_store};
pub use tdb_cases::place::{OpenStorage, Store};

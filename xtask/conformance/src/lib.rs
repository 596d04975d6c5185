//! Random arrays, written and read by the reference library and by ours, and compared.
//!
//! * `command`: what `cargo xtask conformance` can be asked for;
//! * `examine`: runs a case on both sides; `facts` says how two arrays differ;
//! * `selected` compares what both sides read of a selection, and `chosen` takes its cells from all cells;
//! * `both_write`: the same array written by both sides;
//! * `aggregates`: aggregates of both sides.
//!
//! Cases and what runs them are those of [`tdb_cases`].
//!
//! The kinds of cases:
//!
//! * `read`: arrays that the newest release writes, and ours too if asked for;
//! * `create` and `change`: arrays that are created and changed by both sides;
//! * `on_store`: arrays of `read` and `query`, and those that both sides write, on a store;
//! * `filters`: chains of filters;
//! * `soak`: no cases, but readers of both sides while both write and maintain;
//! * `corruption`: no cases either, but fixtures that are damaged, verified by us and read by both;
//! * `maintain`: arrays that both sides write and maintain in turn;
//! * `releases`: arrays that older releases write;
//! * `migrate`: arrays that we migrate to the formats of older releases, read by these;
//! * `old_formats`: arrays of older formats, written by ours, read by the releases of that time.
#![forbid(unsafe_code)]

mod aggregates;
mod both_write;
mod by_release;
mod change;
mod chosen;
mod command;
mod corruption;
mod create;
mod examine;
mod facts;
mod filters;
mod maintain;
mod migrate;
mod old_formats;
mod on_store;
mod read;
mod releases;
mod selected;
mod soak;

pub use command::{Arguments, CaseArguments, run, run_on_store};
pub use tdb_cases::place::{OpenStorage, Store};

//! Random arrays, written and read by the reference library and by ours, and compared.
//!
//! * `command`: what `cargo xtask conformance` can be asked for;
//! * `runner`, `tally`, `verdict`: runs cases of any kind, several at the same time, and counts what comes of them;
//! * `generate`: cases from random numbers; everything is settled before anything is run;
//! * `history`, `entries`, `scalars`: plain data of cases: what happens to an array, metadata, single values;
//! * `build`: our definition of what a case describes;
//! * `print` and `shrink`: cases as readable and as small as they can be made;
//! * `writer`: which releases make the arrays; `ours` makes and reads them with our library;
//! * `examine`: runs a case on both sides; `reads` compares what one question gives; `facts` and `compare` say what differs;
//! * `selection`: points, boxes and ranges without an end; `evaluation` says which cells they hold, `selected` compares what both sides read of them,
//!   and `chosen` takes them from all cells;
//! * `both_write`: the same array written by both sides;
//! * `place`: where arrays lie, in folders or on a store;
//! * `overhang`: arrays in whose last tile the library crashes;
//! * `defects`: what the library is known to get wrong; `limits`: what older releases can't do.
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
mod build;
mod by_release;
mod case;
mod change;
mod chosen;
mod command;
mod compare;
mod corruption;
mod coverage;
mod create;
mod defects;
mod entries;
mod evaluation;
mod examine;
mod facts;
mod filters;
mod generate;
mod history;
mod limits;
mod maintain;
mod make_ours;
mod migrate;
mod old_formats;
mod on_store;
mod ours;
mod overhang;
mod place;
mod print;
mod random;
mod read;
mod reads;
mod releases;
mod runner;
mod scalars;
mod selected;
mod selection;
mod shrink;
mod soak;
mod tally;
mod their_errors;
mod values;
mod verdict;
mod writer;

pub use command::{Arguments, CaseArguments, run, run_on_store};
pub use place::{OpenStorage, Store};

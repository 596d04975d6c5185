//! Random conformance cases, and their runner.
//!
//! - [`runner`], [`tally`], [`verdict`]: run cases of any kind in parallel and count the results
//! - [`generate`]: cases from random numbers, complete before anything runs
//! - [`history`], [`entries`], [`scalars`]: plain data of cases: operations on an array, metadata,
//!   single values
//! - [`build`]: converts a case to array definitions of tdb
//! - [`print`](mod@print) and [`shrink`]: print cases and make them smaller
//! - [`writer`]: the releases that write the arrays
//! - [`ours`]: writes and reads arrays with tdb
//! - [`reads`] runs a question on both sides, and [`compare`] returns the first difference
//! - [`selection`]: points, boxes and open-ended ranges
//! - [`evaluation`]: decides which cells a selection contains
//! - [`place`]: locations of arrays, in folders or on a store
//! - [`overhang`]: arrays in whose last tile the library crashes
//! - [`defects`]: known defects of the library
//! - [`limits`]: limits of older releases
#![forbid(unsafe_code)]

pub mod build;
pub mod case;
pub mod compare;
pub mod coverage;
pub mod defects;
pub mod entries;
pub mod evaluation;
pub mod generate;
pub mod history;
pub mod limits;
pub mod ours;
pub mod overhang;
pub mod place;
pub mod print;
pub mod random;
pub mod reads;
pub mod runner;
pub mod scalars;
pub mod selection;
pub mod shrink;
pub mod tally;
pub mod their_errors;
pub mod values;
pub mod verdict;
pub mod writer;

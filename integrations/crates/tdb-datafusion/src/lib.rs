//! TileDB arrays as tables of [DataFusion](https://datafusion.apache.org): SQL that reads what it needs of them.
//!
//! - [`session`]: a session in which arrays are tables by their URIs, with INSERT, DELETE, CREATE EXTERNAL TABLE, COPY TO and tables of what an
//!   array is. [`SessionOptions`] say how much memory and how many threads it has, [`Opener`] where URIs lead to.
//! - [`parse`]: a statement, unless DataFusion would pass over a part of it.
//! - [`TdbTable`]: an array as a table, for any session; [`TableOptions`]: as of when, within which budget. [`TdbCatalog`]: a group as a
//!   catalog.
//! - [`functions`]: arithmetic and aggregates that report overflows, for codecs of plans.
//! - [`Scan`]: what plans read, and [`ScanPieces`], the same as bytes for another process.
//!
//! What SQL sees of an array, and what of a query reaches it, stands in `docs/sql.md`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod array_planner;
mod catalog;
mod constants;
mod create;
mod definition;
mod enumerations;
mod error;
mod files;
mod filter;
mod floats;
pub mod functions;
mod info;
mod opened;
mod opener;
mod options;
mod planner;
mod ranges;
mod recent;
mod rules;
mod scan;
mod session;
mod statement;
mod table;
mod time;
mod write;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {datafusion, tdb_array, tdb_arrow, tdb_storage};

pub use catalog::TdbCatalog;
pub use opener::Opener;
pub use options::{DenseCells, TableOptions};
pub use scan::{Scan, ScanPieces};
pub use session::{SessionOptions, session, session_with};
pub use statement::parse;
pub use table::TdbTable;

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

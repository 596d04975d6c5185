//! TileDB arrays as tables of [DataFusion](https://datafusion.apache.org). SQL queries read only
//! the tiles they need.
//!
//! - [`session`]: creates a session with arrays as tables by URI, and with INSERT, DELETE, CREATE
//!   EXTERNAL TABLE, COPY TO and tables about arrays. [`SessionOptions`] set memory and threads.
//!   [`Opener`] resolves URIs.
//! - [`parse`]: parses a statement. Rejects clauses that DataFusion would ignore.
//! - [`TdbTable`]: an array as a table, for any session. [`TableOptions`] set the time and the
//!   memory budget. [`TdbCatalog`]: a group as a catalog.
//! - [`functions`]: arithmetic and aggregates with overflow errors, for codecs of plans.
//! - [`Scan`]: the data source in plans. [`ScanPieces`]: a scan as bytes, for another process.
//!
//! `docs/guides/sql.md` describes the columns of an array in SQL, and which parts of a query are
//! pushed down.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admission;
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

// Public signatures use types of these crates. The re-exports spare users a dependency of the same
// version.
pub use {datafusion, tdb_array, tdb_arrow, tdb_storage};

pub use catalog::TdbCatalog;
pub use opener::Opener;
pub use options::{DenseCells, TableOptions};
pub use scan::{Scan, ScanPieces};
pub use session::{SessionOptions, session, session_with};
pub use statement::parse;
pub use table::TdbTable;

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

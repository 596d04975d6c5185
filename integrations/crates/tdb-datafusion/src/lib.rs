//! TileDB arrays as tables of [DataFusion](https://datafusion.apache.org): SQL that reads what it needs of them.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod catalog;
mod create;
mod error;
mod filter;
mod info;
mod opened;
mod opener;
mod options;
mod planner;
mod ranges;
mod scan;
mod session;
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
pub use table::TdbTable;

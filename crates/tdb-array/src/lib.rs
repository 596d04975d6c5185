//! TileDB arrays in pure Rust: open, plan, read, create, write and evolve.
//!
//! - [`Array`]: a snapshot of an array, opened from a folder or from any
//!   [`Storage`](tdb_storage::Storage) with [`Array::open`] or [`ArrayOptions`]. [`Array`] extends
//!   [`Snapshot`] (schema, fragments, enumerations) with methods to read and write.
//! - [`Query`]: a query with its fields, ranges, order and memory budget.
//! - [`Plan`]: the tiles and byte ranges of a query, known before a cell is read.
//! - [`Monitor`]: cancels queries and reports progress.
//! - [`Batches`], [`Batch`], [`Column`]: the resulting cells, in Arrow's memory layout. Results
//!   arrive batch by batch, within the memory budget.
//! - [`CreateOptions`]: creates arrays and groups. [`Write`] writes cells at once
//!   ([`Write::cells`]) or as a stream ([`GlobalWriter`]). Writes are atomic.
//! - [`Array::evolve`], [`Array::delete_cells`], [`Array::delete_fragments`],
//!   [`Array::write_metadata`] and [`Group::change`](Group::change) change arrays and groups.
//!   [`Array::leftovers`] finds the orphaned files of interrupted writes.
//! - [`Environment`]: the [`Clock`] and the [`Randomness`] for all operations. By default, the
//!   operating system provides both.
//! - [`Metadata`] of arrays and groups, and [`Group`] with members. [`GroupTree`] walks nested
//!   groups.
//! - [`ArrayDirectory`]: the files of an array that readers use at a given time.
//! - [`ArrayError`]: names the file and the cause of an error. The
//!   [`category`](ArrayError::category) indicates the remedy.
//!
//! Threads start with the first query that is large enough, unless [`ArrayOptions::threads`] is 1.
//! Reading never writes files.
//!
//! ```
//! use tdb_array::{Array, Order};
//!
//! # fn main() -> Result<(), tdb_array::ArrayError> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
//! let array = Array::open(folder)?;
//! let query = array.read().select(["y", "x", "a"])?.range("y", 0..=1)?.range("x", 3..=5)?.order(Order::RowMajor);
//! assert!(query.plan()?.bytes() < 1000);
//! let mut cells = 0;
//! for batch in query.batches()? {
//!     let batch = batch?;
//!     let rows: &[i32] = batch.column("y")?.values()?;
//!     assert!(rows.iter().all(|row| (0..=1).contains(row)));
//!     cells += batch.len();
//! }
//! assert_eq!(cells, 6);
//! # Ok(())
//! # }
//! ```
//!
//! ```
//! use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
//! use tdb_array::tdb_types::Datatype;
//! use tdb_array::{Array, WriteBatch, WriteColumn};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("array");
//! let position = Dimension::new("position", 0u32..=999_999);
//! let schema = SchemaBuilder::sparse()
//!     .dimension(position)
//!     .attribute(Attribute::new("depth", Datatype::Float32))
//!     .build()?;
//! Array::create(&path, schema)?;
//!
//! let cells = WriteBatch::new().with("position", &[7u32, 3]).with("depth", WriteColumn::values(&[30.5f32, 12.0]));
//! assert_eq!(Array::open(&path)?.write().cells(cells)?.cells, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate defines only [`Array`]. The following crates contain the functionality, and can be
//! used separately: `tdb-snapshot`, `tdb-query`, `tdb-dense`, `tdb-sparse`, `tdb-read`,
//! `tdb-write`, `tdb-group` and `tdb-consolidate`. Further crates handle files and paths
//! ([`tdb_storage`]), single tiles ([`tdb_filters`]), schemas ([`tdb_schema`]), fragment metadata
//! ([`tdb_fragment`]) and conditions ([`tdb_condition`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod array;

// Re-exported because public signatures use types of these crates. Dependents then need no separate
// manifest entries.
pub use {
    tdb_aggregate, tdb_cells, tdb_condition, tdb_filters, tdb_fragment, tdb_metadata, tdb_rtree, tdb_schema,
    tdb_storage, tdb_types,
};

pub use array::{Array, ArrayOptions};
pub use tdb_cells::{
    Batch, CellProblem, CellsError, Column, Coordinate, Monitor, Order, Progress, Value, WriteBatch, WriteColumn,
};
pub use tdb_consolidate::{ConsolidatedFragments, FragmentCopy, FragmentJoin, NewFragmentPlace, TileCounts};
pub use tdb_group::{Group, GroupOptions, GroupTree, GroupWriter, Member, MemberPlace, NodeKind, TreeNode};
pub use tdb_metadata::{MemberKind, MetadataValue, MetadataView};
pub use tdb_query::{
    FileReads, FragmentPlan, FragmentsLeftOut, InexactReason, Plan, PlannedTile, PrunedBy, PrunedTiles,
};
pub use tdb_read::{
    Aggregate, AggregateFunction, Aggregates, Batches, Exactness, FirstValues, Grouped, Histogram, Label, Query,
    QueryBox, QueryPart, Statistics,
};
pub use tdb_snapshot::{
    ArrayDirectory, ArrayError, CellOrderCheck, Clock, CommitInventory, CommitList, CommittedFragment, Damaged,
    EmbeddedDelete, Environment, Fragment, FragmentEntry, Listing, Metadata, NumpyArray, Options, Randomness, Result,
    Snapshot, StoredTiles, TileCells, TileReader, TileWorkers, TimeRange,
};
pub use tdb_types::ErrorCategory;
pub use tdb_write::{
    AtomicWriter, CreateOptions, Duplicates, GlobalWriter, Leftover, MetadataWriter, SmallFiles, Write, WriteIds,
    Written,
};

/// Compiles and runs the example in the crate's README.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

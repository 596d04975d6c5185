//! TileDB arrays in pure Rust: open, plan, read; create, write, change.
//!
//! - [`Array`]: an array as it was at one time, opened from a folder or any [`Storage`](tdb_storage::Storage) by
//!   [`Array::open`] or [`ArrayOptions`]. It is a [`Snapshot`] (schema, fragments, enumerations) that can be read and written.
//! - [`Query`]: which fields, which ranges, which order, how many bytes a batch may take.
//! - [`Plan`]: which tiles and which bytes of which files a query would touch, known before a cell is read.
//! - [`Monitor`]: cancels queries, and says how far they are.
//! - [`Batches`], [`Batch`], [`Column`]: the cells, in Arrow's memory layout. A result is never too large: it comes batch
//!   by batch within the budget.
//! - [`CreateOptions`] make arrays and groups; [`Write`] puts cells into them, whole ([`Write::cells`]) or as a stream
//!   ([`GlobalWriter`]), each write there as a whole or not at all.
//! - [`Array::evolve`], [`Array::delete_cells`], [`Array::delete_fragments`], [`Array::write_metadata`],
//!   [`Group::change`](Group::change): changes. [`Array::leftovers`]: what interrupted writes have left.
//! - [`Environment`]: the [`Clock`] and the [`Randomness`] that all of this goes by, where they aren't to be the operating
//!   system's.
//! - [`Metadata`] of arrays and groups, and [`Group`]s with their members, walked by [`GroupTree`].
//! - [`ArrayDirectory`]: which files of an array count, as a pure function of names and time.
//! - [`ArrayError`]: what went wrong, in which file, and by its [`category`](ArrayError::category) what to do.
//!
//! Threads are started when the first large enough query wants them, and none if [`ArrayOptions::threads`] says 1. Nothing
//! is ever written while reading.
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
//! use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
//! use tdb_array::tdb_types::{Datatype, Scalar};
//! use tdb_array::{Array, NewCells, NewColumn};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("array");
//! let position = Dimension::new("position", Datatype::UInt32, Scalar::U32(0), Scalar::U32(999_999));
//! let schema = SchemaBuilder::sparse()
//!     .dimension(position)
//!     .attribute(Attribute::new("depth", Datatype::Float32))
//!     .build()?;
//! Array::create(&path, &ArrayDefinition::new(schema)?)?;
//!
//! let cells = NewCells::new().with("position", &[7u32, 3]).with("depth", NewColumn::values(&[30.5f32, 12.0]));
//! assert_eq!(Array::open(&path)?.write().cells(cells)?.cells, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate holds [`Array`] alone. The rest is in the crates below, each of which can be used without the others: `tdb-snapshot`,
//! `tdb-query`, `tdb-dense`, `tdb-sparse`, `tdb-read`, `tdb-write`, `tdb-group`, `tdb-consolidate`. Left to others: files and paths ([`tdb_storage`]), single tiles ([`tdb_filters`]), schemas ([`tdb_schema`]), fragment
//! metadata ([`tdb_fragment`]), conditions ([`tdb_condition`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod array;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {
    tdb_aggregate, tdb_cells, tdb_condition, tdb_filters, tdb_fragment, tdb_metadata, tdb_rtree, tdb_schema,
    tdb_storage, tdb_types,
};

pub use array::{Array, ArrayOptions};
pub use tdb_cells::{
    Batch, CellProblem, CellsError, Column, Coordinate, Monitor, NewCells, NewColumn, Order, Progress, Value,
};
pub use tdb_consolidate::{FragmentCopy, Join, Joined, NewFragmentPlace, TileCounts};
pub use tdb_group::{Group, GroupOptions, GroupTree, GroupWriter, Member, MemberPlace, NodeKind, TreeNode};
pub use tdb_metadata::{MemberKind, MetadataValue, MetadataView};
pub use tdb_query::{FileReads, FragmentPlan, FragmentsLeftOut, Plan, PlannedTile, PrunedBy, PrunedTiles, WhyUnknown};
pub use tdb_read::{
    Aggregate, AggregateFunction, Aggregates, Batches, FirstValues, Grouped, Histogram, Label, Query, QueryBox,
    QueryPart, Stated, Statistics,
};
pub use tdb_snapshot::{
    ArrayDirectory, ArrayError, CellOrderCheck, Clock, CommitInventory, CommitList, CommittedFragment, Damaged,
    EmbeddedDelete, Environment, Fragment, FragmentEntry, Listing, Metadata, NumpyArray, Options, Randomness, Result,
    Snapshot, StoredTiles, TileCells, TileReader, TileWorkers, TimeRange,
};
pub use tdb_types::ErrorCategory;
pub use tdb_write::{
    CreateOptions, Duplicates, GlobalWriter, Leftover, MetadataWriter, Names, SmallFiles, TogetherWriter, Write,
    Written,
};

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

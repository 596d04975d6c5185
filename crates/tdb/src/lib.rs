//! The TileDB array storage format in pure Rust, in one dependency.
//!
//! An *array* is a folder: a schema (dimensions, attributes, how cells are ordered and filtered) and *fragments*, one per
//! write, whose cells lie in *tiles*. [`Array`] opens one as it was at a time; [`Query`] says which cells of it are wanted;
//! what comes back are [`Batch`]es of [`Column`]s, in bounded memory however large the result is.
//!
//! ```
//! use tdb::{Array, Order};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
//! let array = Array::open(path)?;
//! for dimension in array.schema().dimensions() {
//!     println!("{}: {}", dimension.name(), dimension.datatype());
//! }
//!
//! let query = array
//!     .read()
//!     .select(["x", "s"])? // dimensions and attributes, by name
//!     .range("y", -10..=-7)? // any number of ranges per dimension
//!     .order(Order::RowMajor)
//!     .budget(64 << 20); // bytes of a batch
//! println!("{}", query.plan()?); // which tiles, which bytes: known before a cell is read
//!
//! let mut xs = Vec::new();
//! for batch in query.batches()? {
//!     let batch = batch?;
//!     let x: &[i32] = batch.column("x")?.values()?; // typed, borrowed, aligned
//!     xs.extend_from_slice(x);
//!     let s = batch.column("s")?;
//!     for cell in 0..batch.len() {
//!         println!("{} {:?}", x[cell], s.cell(cell)); // none if the cell is null
//!     }
//! }
//! assert_eq!(xs, [24, 27, 14, 17, 18, 22, 28, 7, 28]);
//! # Ok::<(), tdb::ArrayError>(())
//! ```
//!
//! Arrays are made from a schema, and cells written into them, each write there as a whole or not at all:
//!
//! ```
//! use tdb::schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
//! use tdb::types::{Datatype, Scalar};
//! use tdb::{Array, NewCells};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("array");
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::new("position", Datatype::UInt32, Scalar::U32(0), Scalar::U32(999_999)))
//!     .attribute(Attribute::new("depth", Datatype::Float32))
//!     .build()?;
//! Array::create(&path, &ArrayDefinition::new(schema)?)?;
//!
//! let cells = NewCells::new().with("position", &[7u32, 3]).with("depth", &[30.5f32, 12.0]);
//! Array::open(&path)?.write().cells(cells)?;
//! let cells: usize = Array::open(&path)?.read().batches()?.map(|batch| batch.map(|batch| batch.len())).sum::<Result<_, _>>()?;
//! assert_eq!(cells, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each thing has one name here: what is about arrays, all of [`tdb-array`](tdb_array), stands at the root, and what is of a
//! layer below in the layer's module, or, of maintenance, in the module of its crate. The layers are crates of their own for those who want one alone:
//!
//! | module | crate | its one job |
//! | --- | --- | --- |
//! | [`types`] | `tdb-types` | datatypes, versions, names, the bounded reader and writer |
//! | [`storage`] | `tdb-storage` | where bytes lie: folders, memory, whatever implements [`Storage`](storage::Storage) |
//! | [`filters`] | `tdb-filters` | tile bytes to filtered bytes and back |
//! | [`rtree`] | `tdb-rtree` | ranges, bounding boxes, the R-tree |
//! | [`generic_tile`] | `tdb-generic-tile` | the tile that describes itself |
//! | [`schema`] | `tdb-schema` | schemas, enumerations, tile grids, global and Hilbert order |
//! | [`metadata`] | `tdb-metadata` | the small files: commits, metadata, groups |
//! | [`condition`] | `tdb-condition` | conditions on cells: build, read, evaluate |
//! | [`fragment`] | `tdb-fragment` | the metadata of fragments |
//! | [`cells`] | `tdb-cells` | cells in memory: columns, orders, threads |
//! | [`schema_text`] | `tdb-schema-text` | schemas as text, both ways |
//! | [`job`] | `tdb-job` | what the crates below share: the lock, the journal, errors |
//! | [`maintain`] | `tdb-maintain` | consolidation and vacuuming |
//! | [`verify`] | `tdb-verify` | verification and repair |
//! | [`diff`] | `tdb-diff` | comparison of arrays |
//! | [`relocate`] | `tdb-relocate` | copies, moves and removals |
//! | [`migrate`] | `tdb-migrate` | other format versions, tiles, orders and filters |
//! | [`advise`] | `tdb-advise` | what makes an array slow or large, and the command that helps |
//!
//! # Features
//!
//! Each codec is one, and all are on by default: `zstd`, `zlib`, `lz4`, `bzip2`, `checksum`, `aes` (encrypted arrays,
//! [`ArrayOptions::key`]) and `webp` (attributes of images). `webp-lossy`, which writes images with loss, is not, and needs
//! Rust 1.92. A build without one refuses what needs it with an error that names the feature. `zstd` alone is C code. Without
//! `zlib` no array opens: schemas and metadata are compressed by it.
//!
//! # Errors
//!
//! Whatever goes wrong with an array is an [`ArrayError`], which says in which file and, for damaged bytes, at which offset;
//! [`ArrayError::category`] says whether it is wrong use, damage, a wrong or missing key, something beyond this library, or
//! something that can't be reached.
//!
//! ```
//! use tdb::{Array, ErrorCategory};
//!
//! let error = Array::open("no/such/array").unwrap_err();
//! assert_eq!(error.category(), ErrorCategory::Unavailable);
//! ```

// One by one: what comes into the crate below is no name of this one until it is meant to be. A test sees to it that none is forgotten.
#[doc(inline)]
pub use tdb_array::{
    Aggregate, AggregateFunction, Aggregates, Array, ArrayDirectory, ArrayError, ArrayOptions, Batch, Batches,
    CellOrderCheck, CellProblem, CellsError, Clock, Column, CommitInventory, CommitList, CommittedFragment, Coordinate,
    CreateOptions, Damaged, Duplicates, EmbeddedDelete, Environment, ErrorCategory, FileReads, FirstValues, Fragment,
    FragmentCopy, FragmentEntry, FragmentPlan, FragmentsLeftOut, GlobalWriter, Group, GroupOptions, GroupTree,
    GroupWriter, Grouped, Histogram, Join, Joined, Label, Leftover, Listing, Member, MemberPlace, Metadata,
    MetadataWriter, Monitor, Names, NewCells, NewColumn, NewFragmentPlace, NodeKind, NumpyArray, Options, Order, Plan,
    PlannedTile, Progress, PrunedBy, PrunedTiles, Query, QueryBox, QueryPart, Randomness, Result, SmallFiles, Snapshot,
    Stated, Statistics, StoredTiles, TileCells, TileCounts, TileReader, TileWorkers, TimeRange, TogetherWriter,
    TreeNode, Value, WhyUnknown, Write, Written,
};

pub use tdb_advise as advise;
pub use tdb_cells as cells;
pub use tdb_condition as condition;
pub use tdb_diff as diff;
pub use tdb_filters as filters;
pub use tdb_fragment as fragment;
pub use tdb_generic_tile as generic_tile;
pub use tdb_job as job;
pub use tdb_maintain as maintain;
pub use tdb_metadata as metadata;
pub use tdb_migrate as migrate;
pub use tdb_relocate as relocate;
pub use tdb_rtree as rtree;
pub use tdb_schema as schema;
pub use tdb_schema_text as schema_text;
pub use tdb_storage as storage;
pub use tdb_types as types;
pub use tdb_verify as verify;

/// The example of the crate's README compiles, and does what it says.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

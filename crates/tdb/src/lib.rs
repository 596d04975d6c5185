//! The TileDB array storage format in pure Rust, as a single dependency.
//!
//! An *array* is a folder with a schema (dimensions, attributes, cell order, filters) and
//! *fragments*, one per write. A fragment stores its cells in *tiles*. [`Array`] opens an array at
//! a point in time. A [`Query`] selects cells and returns [`Batch`]es of [`Column`]s, in bounded
//! memory for results of any size.
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
//!     .budget(64 << 20); // bytes of memory
//! println!("{}", query.plan()?); // tiles and bytes to read, known before any cell is read
//!
//! let mut xs = Vec::new();
//! for batch in query.batches()? {
//!     let batch = batch?;
//!     let x: &[i32] = batch.column("x")?.values()?; // typed, borrowed, aligned
//!     xs.extend_from_slice(x);
//!     let s = batch.column("s")?;
//!     for cell in 0..batch.len() {
//!         println!("{} {:?}", x[cell], s.cell(cell)); // `None` if the cell is null
//!     }
//! }
//! assert_eq!(xs, [24, 27, 14, 17, 18, 22, 28, 7, 28]);
//! # Ok::<(), tdb::ArrayError>(())
//! ```
//!
//! Create an array from a schema, then write cells. Each write is atomic:
//!
//! ```
//! use tdb::schema::{Attribute, Dimension, SchemaBuilder};
//! use tdb::types::Datatype;
//! use tdb::{Array, WriteBatch};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("array");
//! let schema = SchemaBuilder::sparse()
//!     .dimension(Dimension::new("position", 0u32..=999_999))
//!     .attribute(Attribute::new("depth", Datatype::Float32))
//!     .build()?;
//! Array::create(&path, schema)?;
//!
//! let cells = WriteBatch::new().with("position", &[7u32, 3]).with("depth", &[30.5f32, 12.0]);
//! Array::open(&path)?.write().cells(cells)?;
//! let cells: usize = Array::open(&path)?.read().batches()?.map(|batch| batch.map(|batch| batch.len())).sum::<Result<_, _>>()?;
//! assert_eq!(cells, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The root has the names that most programs need. Each crate is a module, and can also be used
//! alone:
//!
//! | module | crate | purpose |
//! | --- | --- | --- |
//! | [`types`] | `tdb-types` | datatypes, versions, names, the bounded reader and writer |
//! | [`storage`] | `tdb-storage` | access to bytes: folders, memory, any other [`Storage`](storage::Storage) |
//! | [`filters`] | `tdb-filters` | encoding and decoding of tiles |
//! | [`rtree`] | `tdb-rtree` | ranges, MBRs, the R-tree |
//! | [`generic_tile`] | `tdb-generic-tile` | generic tiles, which describe themselves |
//! | [`schema`] | `tdb-schema` | schemas, enumerations, tile grids, global and Hilbert order |
//! | [`metadata`] | `tdb-metadata` | commit files, metadata of arrays and groups |
//! | [`condition`] | `tdb-condition` | conditions on cells: build, parse, evaluate |
//! | [`fragment`] | `tdb-fragment` | fragment metadata |
//! | [`array`](mod@array) | `tdb-array` | arrays and groups: all items of queries, writes and snapshots |
//! | [`cells`] | `tdb-cells` | cells in memory: columns, orders, threads |
//! | [`schema_text`] | `tdb-schema-text` | schemas to and from TOML |
//! | [`job`] | `tdb-job` | the basis of maintenance jobs: lock, journal, errors |
//! | [`maintain`] | `tdb-maintain` | consolidation and vacuuming |
//! | [`verify`] | `tdb-verify` | verification and repair |
//! | [`diff`] | `tdb-diff` | comparison of arrays |
//! | [`relocate`] | `tdb-relocate` | copies, moves and removals |
//! | [`migrate`] | `tdb-migrate` | conversion to other format versions, tile extents, orders and filters |
//! | [`advise`] | `tdb-advise` | advice on slow or large arrays |
//!
//! # Features
//!
//! Each codec is a feature. Enabled by default are `zstd`, `zlib`, `lz4`, `bzip2`, `checksum`,
//! `aes` (encrypted arrays, [`ArrayOptions::key`]) and `webp` (image attributes). `webp-lossy`,
//! which writes lossy images, is disabled by default and requires Rust 1.92.
//!
//! Without a feature, arrays that need the codec fail with an error that names the feature. Only
//! `zstd` contains C code. Without `zlib` no array opens, because schemas and metadata are
//! compressed with zlib.
//!
//! # Errors
//!
//! Array operations fail with an [`ArrayError`], which names the file and, for damaged bytes, the
//! offset. [`ArrayError::category`] distinguishes wrong use, damage, wrong or missing keys,
//! unsupported features and unavailable storage:
//!
//! ```
//! use tdb::{Array, ErrorCategory};
//!
//! let error = Array::open("no/such/array").unwrap_err();
//! assert_eq!(error.category(), ErrorCategory::Unavailable);
//! ```

#[doc(inline)]
pub use tdb_array::{
    Aggregate, Array, ArrayError, ArrayOptions, Batch, Column, CreateOptions, ErrorCategory, Group, GroupOptions,
    Order, Query, Result, TimeRange, Write, WriteBatch, WriteColumn,
};

pub use tdb_advise as advise;
pub use tdb_array as array;
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

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "zlib"))]
#[doc = include_str!("../README.md")]
struct Readme;

//! Cells in memory: columns and batches, orders and sorting, threads and reusable memory.
//!
//! - [`Column`] and [`Batch`]: cells of query results, in Arrow's memory layout. [`WriteColumn`] and
//!   [`WriteBatch`]: cells to write.
//! - [`Coordinate`]: an end of a query range, and conversion to the type of a dimension.
//! - [`Order`]: the result order of a query. [`order`]: keys and orders for sorting cells.
//! - [`CellBuffers`], [`TileScratch`], [`Pool`]: memory reused from tile to tile.
//! - [`Workers`]: threads, started by the first large job. [`Monitor`]: cancellation and progress
//!   of queries.
//! - [`CellsError`]: errors with the field, dimension or cell at fault.
//!
//! The crate does not access the files of arrays. Crates that depend on this crate read and write
//! tiles.
//!
//! ```
//! use tdb_cells::WriteColumn;
//!
//! let words = WriteColumn::strings(["one", "two", "three"]);
//! assert_eq!(words.offsets(), Some(&[0, 3, 6, 11][..]));
//! let some = WriteColumn::options([Some(0.5f64), None, Some(1.5)]);
//! assert_eq!(some.validity(), Some(&[0b101][..]));
//! ```

mod batch;
mod buffers;
mod column;
mod coordinate;
mod error;
mod monitor;
mod new_cells;
pub mod order;
mod scratch;
mod spare;
mod workers;

pub use batch::Batch;
pub use buffers::{CellBuffers, in_tile_layout};
pub use column::{Column, ColumnBuffers, Value, pack_validity};
pub use coordinate::{Coordinate, Given, dimension_index, range_on, scalar_of};
pub use error::{Cancelled, CellProblem, CellsError, list_of_names};
pub use monitor::{Monitor, Progress, Watch};
pub use new_cells::{Checker, WriteBatch, WriteColumn, check_column};
pub use order::Order;
pub use scratch::TileScratch;
pub use spare::{Pool, SPARE_CELLS, SPARE_PARTS, Spare};
pub use workers::{WEIGHT_OF_A_READ, WEIGHT_OF_MORE, Workers};

/// A result with an error about a field, dimension or cell.
pub type Result<T, E = CellsError> = std::result::Result<T, E>;

/// Tests the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

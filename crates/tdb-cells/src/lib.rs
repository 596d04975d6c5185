//! Cells in memory: columns and batches, orders and sorting, and the threads and memory that work on them.
//!
//! - [`Column`] and [`Batch`]: cells that were read, in Arrow's memory layout. [`NewColumn`] and [`NewCells`]: cells to be written.
//! - [`Coordinate`]: one end of a range as a caller gives it, and its way to the type of a dimension.
//! - [`Order`]: the order in which a caller wants cells; [`order`]: what cells are sorted by.
//! - [`CellBuffers`], [`TileScratch`], [`Pool`]: memory that is used again from tile to tile.
//! - [`Workers`]: threads, started when the first large enough job wants them. [`Monitor`]: cancels queries, and says how far they are.
//! - [`CellsError`]: which field, dimension or cell is at fault, and why.
//!
//! It knows nothing of the files of arrays: bytes of tiles come from the crates above, which read and write them.
//!
//! ```
//! use tdb_cells::NewColumn;
//!
//! let words = NewColumn::strings(["one", "two", "three"]);
//! assert_eq!(words.offsets(), Some(&[0, 3, 6, 11][..]));
//! let some = NewColumn::options([Some(0.5f64), None, Some(1.5)]);
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
pub use new_cells::{Checker, NewCells, NewColumn, check_column};
pub use order::Order;
pub use scratch::TileScratch;
pub use spare::{LEFT_CELLS, LEFT_PARTS, Pool, Spare};
pub use workers::{WEIGHT_OF_A_READ, WEIGHT_OF_MORE, Workers};

/// A result whose error says which field, dimension or cell is at fault.
pub type Result<T, E = CellsError> = std::result::Result<T, E>;

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Cells of TileDB arrays as CSV and JSON, read and written.

mod cells;
mod error;
mod import;
mod infer;
mod output;
pub mod points;
pub mod range;
mod rows;
pub mod time;
pub mod value;

pub use cells::{CellKind, CellParser, Field, cell_of_text};
pub use error::{Error, Result};
pub use import::{Checked, ColumnBatch, ColumnFiles, FileColumn, Import, Imported, Observer, Pass, Source};
pub use infer::Inference;
pub use output::{CellWriter, CsvWriter, JsonWriter};
pub use rows::{Input, RowsFormat};

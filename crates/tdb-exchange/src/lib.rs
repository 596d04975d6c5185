//! Import and export of cells of [TileDB](https://tiledb.com) arrays as CSV and JSON.
//!
//! - [`Import`] writes rows of CSV, JSON and JSON lines, or whole columns ([`ColumnFiles`]), to an
//!   array. It checks all rows before it writes the first row. An [`Observer`] receives the
//!   progress, and the file and line of each rejected row.
//! - [`Inference`] infers the schema of an array that can hold the rows of files.
//! - [`CsvWriter`] and [`JsonWriter`] write the batches of a query. An import of this text results
//!   in the same cells.
//! - [`CellParser`] parses one cell. [`CellKind`] and [`Field`] print one cell.
//! - [`range`], [`points`], [`time`] and [`value`] parse arguments of requests, such as
//!   `pos=100..200`, tables of points, and `2024-05-01`.
//! - [`Error`] names file, line, column or field, and the reason.
//!
//! The crate does not depend on terminals or command lines. Rows need not fit into memory, because
//! an import has a memory budget and sorts in temporary files.
//!
//! From CSV to an array, and back:
//!
//! ```
//! use tdb_exchange::tdb_array::Array;
//! use tdb_exchange::{CellWriter, CsvWriter, Field, Import, Imported, Input, RowsFormat, Source};
//!
//! let text = "pos,qual,alt\n20,1.5,G\n10,3.5,A\n";
//! let input = Input::bytes("rows.csv", text.as_bytes(), RowsFormat::Csv, None);
//! let import = Import::new(Source::Rows { inputs: vec![input], nulls: vec![String::new()], types: vec![] });
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("array");
//! let definition = import.definition(&["pos".to_owned()], false)?;
//! let mut checked = import.check(&definition, &mut ())?;
//! Array::create(&path, &definition)?;
//! let mut imported = Imported::default();
//! import.write(&Array::open(&path)?, &definition, &mut checked, &mut imported, &mut ())?;
//! assert_eq!(imported.cells, 2);
//!
//! let array = Array::open(&path)?;
//! let fields = array.schema().fields().map(|field| Field::of(&array, field, false)).collect::<Result<_, _>>()?;
//! let (mut writer, mut out) = (CsvWriter::new(fields, ""), Vec::new());
//! for batch in array.read().batches()? {
//!     let batch = batch?;
//!     writer.rows(&batch, 0..batch.len(), &mut out)?;
//! }
//! writer.finish(&mut out)?;
//! assert_eq!(String::from_utf8(out)?, "pos,qual,alt\n10,3.5,A\n20,1.5,G\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

// Re-exported because its types appear in signatures of this crate.
pub use tdb_array;

pub use cells::{CellKind, CellParser, Field, cell_of_text};
pub use error::{Error, Result};
pub use import::{Checked, ColumnBatch, ColumnFiles, FileColumn, Import, Imported, Observer, Pass, Source};
pub use infer::Inference;
pub use output::{CellWriter, CsvWriter, JsonWriter};
pub use rows::{Input, RowsFormat};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

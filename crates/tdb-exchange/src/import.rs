//! Import of rows of files into an array: a first pass checks all rows, a second pass writes them.

mod append;
mod cells;
mod check;
mod column;
mod column_files;
mod dense;
mod new_array;
mod observer;
mod options;
mod places;
mod records;
mod replaced;
mod runs;
mod source;
mod write;

pub use check::Checked;
pub use column_files::{ColumnBatch, ColumnFiles, FileColumn};
pub use observer::{Observer, Pass};
pub use options::Import;
pub use source::Source;
pub use write::Imported;

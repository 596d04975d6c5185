//! Output of batches as text.

mod csv;
mod json;
mod writer;

pub use self::csv::CsvWriter;
pub use json::JsonWriter;
pub use writer::CellWriter;

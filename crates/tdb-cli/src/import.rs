//! From the rows of files to an array: first all of them are looked at, then they are written.

mod append;
mod cells;
mod check;
mod column;
mod dense;
mod dimension;
mod elements;
mod infer;
mod lines;
mod new_array;
mod places;
mod quotes;
mod raw;
mod reading;
mod records;
mod replaced;
mod rows;
mod runs;
mod source;
mod write;

pub(crate) use check::{Checked, check};
pub(crate) use infer::Guesses;
pub(crate) use new_array::new_array;
pub(crate) use quotes::Quotes;
pub(crate) use reading::{Imported, Reading, Writing};
pub(crate) use rows::{Input, RowsFormat};
pub(crate) use source::Source;
pub(crate) use write::write;

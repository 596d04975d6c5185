//! Cells as text and as JSON.

mod field;
mod parse;
mod value;

pub(crate) use field::Field;
pub(crate) use parse::{CellParser, encode, hex_member, unhex};
pub(crate) use value::Kind;

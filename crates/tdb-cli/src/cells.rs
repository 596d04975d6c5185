//! Cells as text and as JSON.

mod field;
mod hex_object;
mod parse;
mod value;
mod zone;

pub(crate) use field::Field;
pub(crate) use hex_object::hex_member;
pub use parse::cell_of_text;
pub(crate) use parse::{CellParser, encode, unhex};
pub(crate) use value::Kind;
pub(crate) use zone::in_utc;

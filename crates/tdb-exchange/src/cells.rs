//! Conversion of cells to and from text and JSON.

mod field;
mod kind;
mod parse;
mod zone;

pub use field::Field;
pub(crate) use field::type_of;
pub use kind::CellKind;
pub(crate) use kind::hex_member;
pub use parse::{CellParser, cell_of_text};
pub(crate) use parse::{encode, unhex};
pub(crate) use zone::in_utc;

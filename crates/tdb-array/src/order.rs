//! The order of a sparse array's cells: what cells are sorted by, when they are read and when they are written.

pub(crate) mod ascending;
pub(crate) mod by_writers;
pub(crate) mod cell_order;
pub(crate) mod coordinates;
pub(crate) mod entries;
pub(crate) mod key;
pub(crate) mod key_ranges;
mod result;
pub(crate) mod sort;
pub(crate) mod words;

pub use result::Order;

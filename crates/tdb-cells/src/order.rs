//! Orders of cells, for reading and writing sparse arrays.

pub mod ascending;
pub mod by_writers;
pub mod cell_order;
pub mod coordinates;
pub mod entries;
pub mod key;
pub mod key_ranges;
mod result;
pub mod sort;
pub mod words;

pub use result::Order;

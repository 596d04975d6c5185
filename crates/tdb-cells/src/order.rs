//! The order of a sparse array's cells: what cells are sorted by, when they are read and when they are written.

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

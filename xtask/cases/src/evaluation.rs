//! Which cells a question asks for, decided cell by cell.

mod evaluator;
mod parts;

pub use evaluator::Evaluator;
pub use parts::{as_ranges, limits, merge, parts};

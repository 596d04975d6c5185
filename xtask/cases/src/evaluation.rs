//! Decides cell by cell which cells a question selects.

mod evaluator;
mod parts;

pub use evaluator::Evaluator;
pub use parts::{as_ranges, limits, merge, parts};

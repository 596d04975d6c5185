//! Decides cell by cell which cells a question selects.

mod chosen;
mod evaluator;
mod parts;

pub use chosen::{Place, choose, places, take, typed};
pub use evaluator::Evaluator;
pub use parts::{as_ranges, limits, merge, parts};

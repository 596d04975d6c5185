#![doc = include_str!("../README.md")]

mod cells;
mod diff;
mod difference;
mod documents;
mod fields;
mod side;

pub use diff::Diff;
pub use difference::{DiffCounts, Difference};
pub use tdb_job::{MaintainError, Result};

// Public signatures use types of these crates. The re-exports spare users a dependency.
pub use tdb_array;

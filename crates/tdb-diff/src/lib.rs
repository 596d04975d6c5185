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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;

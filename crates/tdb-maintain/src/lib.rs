#![doc = include_str!("../README.md")]

mod diff;
mod error;

pub use diff::{Diff, DiffCounts, Difference};
pub use error::{MaintainError, Result};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;

#![doc = include_str!("../README.md")]

mod consolidate;
mod diff;
mod error;
mod footer_files;
mod job;
mod metadata_files;
mod own_commits;
mod plan;
mod step;
mod target;
mod vacuum;

pub use consolidate::{Consolidate, Consolidation};
pub use diff::{Diff, DiffCounts, Difference};
pub use error::{MaintainError, Result};
pub use plan::{Left, Plan, Reason, Report, Savings};
pub use step::{Action, Step};
pub use vacuum::Vacuum;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;

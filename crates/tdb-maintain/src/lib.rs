#![doc = include_str!("../README.md")]

mod consolidate;
mod draft;
mod fragments;
mod ignoring;
mod own_commits;
mod plan;
mod step;
mod vacuum;

pub use consolidate::{Consolidate, Consolidation};
pub use draft::{Reason, Retained, Savings};
pub use fragments::{ConsolidateFragments, ConsolidatedStep, FragmentPlan, FragmentReport, PlannedStep};
pub use plan::{Plan, Report};
pub use step::{Action, Step};
pub use vacuum::{FragmentList, IgnoreFile, MetadataList, Vacuum, fragment_lists, ignoring_commits, metadata_lists};

pub use tdb_job::{MaintainError, Refusal, Result};

// Public signatures use types of these crates. Dependents then need no separate manifest entries.
pub use tdb_array;
pub use tdb_job;
pub use tdb_types;

#![doc = include_str!("../README.md")]

mod error;
mod fragments;

pub use error::{MaintainError, Result};
pub use fragments::{ConsolidateFragments, FragmentPlan, FragmentReport, JoinedStep, PlannedStep, Refusal};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;

#![doc = include_str!("../README.md")]

mod doctor;
mod manifest;
mod rebuild;
mod verify;

pub use doctor::{
    Diagnosis, Doctor, QUARANTINE, Remedy, RepairPlan, Repaired, Restored, change_members, first_unknown,
};
pub use manifest::{FileChange, Manifest};
pub use rebuild::{Rebuild, RebuildPlan, Rebuilt};
pub use tdb_job::RebuildProblem;
pub use tdb_job::{MaintainError, Result};
pub use verify::{Finding, FindingKind, Severity, Verify, VerifyReport};

// Public signatures use types of these crates. Dependents then need no separate manifest entries.
pub use tdb_array;

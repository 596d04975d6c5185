#![doc = include_str!("../README.md")]

mod copying;
mod held;
mod local;
mod moving;
mod removing;
mod rewrite;
mod staged;
mod walk;

/// Parts of a copy, for jobs with a staged result next to the destination.
pub mod building {
    pub use crate::local::{check_not_in_array, named};
    pub use crate::removing::REMOVED;
    pub use crate::rewrite::{Kind, Places, Rewritten};
    pub use crate::staged::{check, staged};
    pub use crate::walk::{Tree, walk};
}

pub use copying::{Copied, CopyTo};
pub use local::place_in;
pub use moving::{MoveTo, Moved};
pub use removing::{RemovalPlan, Remove, Removed};
pub use tdb_job::PlaceProblem;
pub use tdb_job::{MaintainError, Result};

// Public signatures use types of these crates. The re-exports spare users a dependency.
pub use tdb_array;

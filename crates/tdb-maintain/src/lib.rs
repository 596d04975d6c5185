#![doc = include_str!("../README.md")]

mod error;
mod manifest;
mod verify;

pub use error::{MaintainError, Result};
pub use manifest::{FileChange, Manifest};
pub use verify::{Finding, FindingKind, Report, Severity, Verify};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;

#![doc = include_str!("../README.md")]

mod bytes;
mod error;
mod footer_files;
pub mod journal;
pub mod links;
pub mod lock;
mod metadata_files;
mod rounds;
mod settle;
mod sizes;
mod target;

pub use bytes::Bytes;
pub use error::{MaintainError, Obstacle, PlaceProblem, RebuildProblem, Refusal, Result};
pub use footer_files::{FooterFile, footer_files};
pub use metadata_files::{Changes, MetadataFile, MetadataFiles, MetadataVacuum, merged};
pub use rounds::{Looked, is_gone, read_anew, until_settled};
pub use settle::{settle_all, settled};
pub use sizes::{cells_in, fixed_size, whole_tiles};
pub use target::{DEEPEST, Stamp, Target, kind_of, list};

// Public signatures use types of these crates. Dependents then need no separate manifest entries.
pub use tdb_array;
pub use tdb_types;

#![doc = include_str!("../README.md")]

mod group;
mod listed;
mod place;
mod tree;
mod writer;

pub use group::{Group, GroupOptions, Member};
pub use place::MemberPlace;
pub use tdb_metadata::MemberKind;
pub use tree::{GroupTree, NodeKind, TreeNode};
pub use writer::GroupWriter;

// Re-exported because public signatures use types of these crates. Dependents then need no separate
// manifest entries.
pub use {tdb_snapshot, tdb_write};

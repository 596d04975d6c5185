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

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {tdb_snapshot, tdb_write};

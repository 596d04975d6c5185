//! The small files next to the cells of a TileDB array: bytes in, values out, and back.
//!
//! - [`CommitKind`]: what a file among the commits says, by its extension.
//! - [`ConsolidatedCommits`]: a `.con` file, commits gathered in one file, with the delete commits that it embeds.
//! - [`PathList`]: `.vac` and `.ign` files, which name other files.
//! - [`MetadataFile`]: what a file of array or group metadata changes, with typed [`MetadataValue`]s.
//! - [`GroupDetails`]: what a detail file of a group says of its members.
//!
//! Which of these files count, at which time, is for those who know the folders to say: see `tdb-array`. What delete commits
//! hold is not looked into here.
//!
//! ```
//! use tdb_metadata::ConsolidatedCommits;
//! use tdb_types::ByteReader;
//!
//! let bytes = b"__commits/__1_1_a_22.wrt\n__commits/__2_2_b_22.del\n\x03\0\0\0\0\0\0\0xyz";
//! let commits = ConsolidatedCommits::parse(&mut ByteReader::new(bytes))?;
//! assert_eq!(commits.entries[0].path, "__commits/__1_1_a_22.wrt");
//! assert_eq!(commits.entries[1].commit, Some(&b"xyz"[..]));
//! # Ok::<(), tdb_types::DecodeError>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod commits;
mod group;
mod metadata;
mod paths;
mod value;

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use {tdb_generic_tile, tdb_types};

pub use commits::{CommitKind, ConsolidatedCommit, ConsolidatedCommits};
pub use group::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
pub use metadata::{MetadataChange, MetadataFile};
pub use paths::PathList;
pub use value::{MetadataValue, MetadataView, MetadataWriteError};

/// The example of the crate's README compiles, and does what it says.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Commit, vacuum, metadata and group files of the TileDB array storage format: parsing and
//! writing.
//!
//! - [`CommitKind`]: the kind of a commit file, by extension.
//! - [`ConsolidatedCommits`]: a consolidated commits file (`.con`), including embedded delete
//!   commits.
//! - [`PathList`]: `.vac` and `.ign` files, which list other files.
//! - [`MetadataFile`]: the changes in a file of array or group metadata, with typed
//!   [`MetadataValue`]s.
//! - [`GroupDetails`]: the members, or changes to members, in a group detail file.
//!
//! The crate does not decide which of these files apply at a given time (see `tdb-array`). It does
//! not parse the conditions in delete commits (see `tdb-condition`).
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

// Re-exported because public signatures use types of these crates.
pub use {tdb_generic_tile, tdb_types};

pub use commits::{CommitKind, ConsolidatedCommit, ConsolidatedCommits};
pub use group::{DetailsVersion, GroupDetails, GroupMember, MemberKind};
pub use metadata::{MetadataChange, MetadataFile};
pub use paths::PathList;
pub use value::{MetadataValue, MetadataView, MetadataWriteError};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Separate commit files.

use tdb_array::Listing;
use tdb_metadata::CommitKind;
use tdb_storage::{Entry, EntryKind};
use tdb_types::TimestampedName;
use tdb_types::names::COMMITS_FOLDER;

/// A separate commit file.
#[derive(Debug)]
pub(crate) struct OwnCommit {
    pub(crate) path: String,
    pub(crate) kind: CommitKind,
    pub(crate) bytes: u64,
}

/// Returns the separate commits of writes, deletes and updates, in the root and in the commits
/// folder.
pub(crate) fn own_commits(listing: &Listing) -> impl Iterator<Item = OwnCommit> {
    let of = |entry: &Entry| {
        let kind = CommitKind::of(&entry.name).filter(|kind| !kind.lists_files())?;
        TimestampedName::parse(&entry.name)?;
        Some(OwnCommit { path: entry.name.clone(), kind, bytes: entry.size })
    };
    let in_folder = move |entry: &Entry| {
        let own = of(entry)?;
        Some(OwnCommit { path: format!("{COMMITS_FOLDER}/{}", own.path), ..own })
    };
    let is_file = |entry: &&Entry| entry.kind == EntryKind::File;
    let in_root = listing.root.iter().filter(is_file).filter_map(of);
    in_root.chain(listing.commits.iter().filter(is_file).filter_map(in_folder))
}

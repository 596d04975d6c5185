//! Separate commit files.

use tdb_metadata::CommitKind;
use tdb_storage::Entry;
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
pub(crate) fn own_commits<'a>(
    root: impl Iterator<Item = &'a Entry>,
    commits: impl Iterator<Item = &'a Entry>,
) -> impl Iterator<Item = OwnCommit> {
    let of = |entry: &'a Entry| {
        let kind = CommitKind::of(&entry.name).filter(|kind| !kind.lists_files())?;
        TimestampedName::parse(&entry.name)?;
        Some(OwnCommit { path: entry.name.clone(), kind, bytes: entry.size })
    };
    let in_folder = move |entry: &'a Entry| {
        let own = of(entry)?;
        Some(OwnCommit { path: format!("{COMMITS_FOLDER}/{}", own.path), ..own })
    };
    root.filter_map(of).chain(commits.filter_map(in_folder))
}

//! Commits of missing fragments, on which readers fail.

use std::collections::HashSet;

use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_storage::Storage;
use tdb_types::names::{COMMITS_FOLDER, file_name};
use tdb_types::{ByteReader, TimestampedName};

use tdb_job::Result;
use tdb_job::journal::folder_of;
use tdb_job::list;

/// Maximum size of a list of commits in bytes.
const LIST_BYTES: u64 = 256 << 20;

/// Returns `true` if a commit, consolidated commits file or ignore file refers to a missing
/// fragment. In a consolidated commits file, ignored commits do not count.
pub(super) fn is_outdated(storage: &dyn Storage, path: &str, bytes: &[u8]) -> Result<bool> {
    let mut names: HashSet<String> = HashSet::new();
    let mut take = |name: &str| {
        if CommitKind::of(name) == Some(CommitKind::Write) {
            names.insert(name.to_owned());
        }
    };
    let read = match CommitKind::of(path) {
        Some(CommitKind::Consolidated) => {
            ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |entry| take(entry.path))
        }
        Some(CommitKind::Ignore) => PathList::for_each(&mut ByteReader::new(bytes), |name| take(&name)),
        _ => {
            take(path);
            Ok(())
        }
    };
    // Readers also ignore an invalid file.
    if read.is_err() {
        return Ok(false);
    }
    if CommitKind::of(path) == Some(CommitKind::Consolidated) {
        taken_back(storage, |name| {
            names.remove(name);
        })?;
    }
    for name in names {
        let fragment = file_name(&name).rsplit_once('.').and_then(|(stem, _)| TimestampedName::parse(stem));
        if let Some(folder) = fragment.and_then(|fragment| folder_of(&fragment))
            && !storage.exists(&folder)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls `take` with each ignored commit.
fn taken_back(storage: &dyn Storage, mut take: impl FnMut(&str)) -> Result<()> {
    for entry in list(storage, COMMITS_FOLDER)? {
        if CommitKind::of(&entry.name) == Some(CommitKind::Ignore) {
            let bytes = storage.read_up_to(&format!("{COMMITS_FOLDER}/{}", entry.name), LIST_BYTES)?;
            // Readers skip invalid ignore files.
            let _ = PathList::for_each(&mut ByteReader::new(&bytes), |name| take(&name));
        }
    }
    Ok(())
}

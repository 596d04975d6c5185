//! The contents of an array's commit files, file by file.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_types::{ByteReader, DecodeError};

use super::commits::{Commits, as_own};
use super::{EmbeddedDelete, FragmentEntry, Listing};
use crate::damage::Findings;
use crate::{ArrayError, Result};

/// The contents of an array's commit files, independent of time. Serves consolidation and vacuum of
/// commits.
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
/// let array = tdb_snapshot::Snapshot::open(folder)?;
/// let commits = array.commit_inventory(&array.listing()?)?;
/// assert_eq!(commits.fragments.len(), 2);
/// assert!(commits.paths.iter().all(|path| path.ends_with(".wrt")));
/// # Ok::<(), tdb_snapshot::ArrayError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CommitInventory {
    /// Paths of all commits in effect, sorted and unique: writes, deletes, updates. Consolidated
    /// commits may have no separate file.
    pub paths: Vec<String>,
    /// Bytes of the consolidated deletes, by path.
    pub embedded: BTreeMap<String, EmbeddedDelete>,
    /// All committed fragments, including superseded fragments.
    pub fragments: Vec<CommittedFragment>,
    /// The files of consolidated commits (`.con`).
    pub consolidated: Vec<CommitList>,
    /// The lists of ignored commits (`.ign`).
    pub ignored: Vec<CommitList>,
    /// The vacuum files with lists of fragment folders (`.vac`).
    pub vacuums: Vec<CommitList>,
}

/// A file with a list of commits or fragments.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CommitList {
    /// The path of the file.
    pub path: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// The listed paths, in the order of the file. Except in ignore files, the paths are resolved
    /// to this array.
    pub names: Vec<String>,
    /// The bytes of the listed deletes, by path.
    pub deletes: BTreeMap<String, Arc<[u8]>>,
    /// The stored form of paths with another array or folder, by resolved path. An ignore file must
    /// list the stored form.
    pub foreign: BTreeMap<String, String>,
}

/// A committed fragment and the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommittedFragment {
    /// The fragment.
    pub entry: FragmentEntry,
    /// The path of the commit file, possibly consolidated. `None` if the metadata file is the
    /// commit.
    pub commit: Option<String>,
    /// `true` if the commit is in a consolidated file.
    pub is_consolidated: bool,
}

impl CommitInventory {
    pub(crate) fn of(listing: &Listing) -> Result<Self> {
        let commits = Commits::gather(listing, &mut Findings::strict())?;
        let mut inventory = Self {
            paths: commits.paths.iter().map(|path| path.clone().into_owned()).collect(),
            embedded: commits.embedded.clone(),
            ..Self::default()
        };
        for (name, files) in &listing.legacy_folders {
            let entry = FragmentEntry::without_commit(name, files)?;
            let committed = |entry| CommittedFragment { entry, commit: None, is_consolidated: false };
            inventory.fragments.extend(entry.map(committed));
        }
        for path in commits.fragments() {
            let is_consolidated = commits.is_consolidated(path);
            let committed = |entry| CommittedFragment { entry, commit: Some(path.to_owned()), is_consolidated };
            inventory.fragments.extend(FragmentEntry::committed_by(path)?.map(committed));
        }
        for (path, bytes) in &listing.commit_files {
            let fail = |source: DecodeError| ArrayError::Commits { file: path.clone(), source };
            match CommitKind::of(path) {
                Some(CommitKind::Consolidated) => inventory.consolidated.push(consolidated(path, bytes).map_err(fail)?),
                Some(CommitKind::Ignore) => {
                    inventory.ignored.push(listed(path, bytes, |path| path).map_err(fail)?);
                }
                Some(CommitKind::Vacuum) => {
                    inventory.vacuums.push(listed(path, bytes, PathList::target).map_err(fail)?);
                }
                _ => {}
            }
        }
        Ok(inventory)
    }
}

fn consolidated(path: &str, bytes: &[u8]) -> Result<CommitList, DecodeError> {
    let mut list = CommitList { path: path.to_owned(), size: bytes.len() as u64, ..CommitList::default() };
    ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |entry| {
        let path = as_own(entry.path).into_owned();
        if path != entry.path {
            list.foreign.insert(path.clone(), entry.path.to_owned());
        }
        list.deletes.extend(entry.commit.map(|bytes| (path.clone(), bytes.into())));
        list.names.push(path);
    })?;
    Ok(list)
}

fn listed(path: &str, bytes: &[u8], target: impl Fn(&str) -> &str) -> Result<CommitList, DecodeError> {
    let mut list = CommitList { path: path.to_owned(), size: bytes.len() as u64, ..CommitList::default() };
    PathList::for_each(&mut ByteReader::new(bytes), |path| list.names.push(target(&path).to_owned()))?;
    Ok(list)
}

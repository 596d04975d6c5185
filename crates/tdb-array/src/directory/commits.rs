//! What the commits of an array come to, with those that were gathered, ignored and replaced.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_storage::EntryKind;
use tdb_types::{ByteReader, DecodeError, FormatVersion, TimestampedName};

use super::{COMMITS_FOLDER, DeleteEntry, Listing, file_name};
use crate::{ArrayError, Result, TimeRange};

/// All commits of an array, before any question of time.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Committed writes and deletes by their paths, with the bytes of those that consolidated commits embed.
    paths: BTreeMap<String, Option<Arc<[u8]>>>,
    /// For each vacuum file the name of the consolidated fragment and the folders that it replaces.
    vacuums: Vec<(TimestampedName, FormatVersion, Vec<String>)>,
}

impl Commits {
    pub(super) fn gather(&mut self, listing: &Listing) -> Result<()> {
        let mut ignored = HashSet::new();
        for (path, bytes) in &listing.commit_files {
            let mut reader = ByteReader::new(bytes);
            let fail = |source: DecodeError| ArrayError::Commits { file: path.clone(), source };
            match CommitKind::of(path) {
                Some(CommitKind::Consolidated) => {
                    let gathered = ConsolidatedCommits::parse(&mut reader).map_err(fail)?;
                    let entries = gathered.entries.iter();
                    self.paths.extend(entries.map(|entry| (entry.path.to_owned(), entry.commit.map(Arc::from))));
                }
                Some(CommitKind::Ignore) => ignored.extend(PathList::parse(&mut reader).map_err(fail)?.paths),
                Some(CommitKind::Vacuum) => {
                    let list = PathList::parse(&mut reader).map_err(fail)?;
                    self.vacuums.extend(replaced(path, &list)?);
                }
                _ => {}
            }
        }
        // Only what was gathered can be ignored: a commit file that is still there counts.
        self.paths.retain(|path, _| !ignored.contains(path));
        for (entries, folder) in [(&listing.root, ""), (&listing.commits, COMMITS_FOLDER)] {
            let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
            let commits = files
                .filter(|entry| matches!(CommitKind::of(&entry.name), Some(CommitKind::Write | CommitKind::Delete)));
            for entry in commits {
                let path = match folder {
                    "" => entry.name.clone(),
                    folder => format!("{folder}/{}", entry.name),
                };
                self.paths.entry(path).or_default();
            }
        }
        Ok(())
    }

    /// Paths of the committed writes.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &str> {
        self.of_kind(CommitKind::Write).map(|(path, _)| path)
    }

    /// The delete commits within `time`, oldest first.
    pub(super) fn deletes(&self, time: TimeRange) -> Vec<DeleteEntry> {
        let deletes = self.of_kind(CommitKind::Delete).filter_map(|(path, embedded)| {
            let name = TimestampedName::parse(file_name(path))?;
            time.contains(name.start(), name.end()).then(|| DeleteEntry {
                name,
                path: path.to_owned(),
                embedded: embedded.clone(),
            })
        });
        let mut deletes: Vec<_> = deletes.collect();
        deletes.sort_by(|a, b| (a.name.start(), &a.path).cmp(&(b.name.start(), &b.path)));
        deletes
    }

    /// Folders of the fragments that are replaced by a consolidated fragment which `visible` says the reader sees.
    pub(super) fn vacuumed(&self, visible: impl Fn(&TimestampedName, FormatVersion) -> bool) -> HashSet<&String> {
        let visible = self.vacuums.iter().filter(|(name, version, _)| visible(name, *version));
        visible.flat_map(|(_, _, folders)| folders).collect()
    }

    fn of_kind(&self, kind: CommitKind) -> impl Iterator<Item = (&str, &Option<Arc<[u8]>>)> {
        let paths = self.paths.iter().filter(move |(path, _)| CommitKind::of(path) == Some(kind));
        paths.map(|(path, embedded)| (path.as_str(), embedded))
    }
}

/// The consolidated fragment that a vacuum file belongs to, and the folders of those that it replaces.
fn replaced(path: &str, list: &PathList) -> Result<Option<(TimestampedName, FormatVersion, Vec<String>)>> {
    let Some(name) = TimestampedName::parse(file_name(path)) else { return Ok(None) };
    let version = name.fragment_version().map_err(|source| ArrayError::Version { file: path.to_owned(), source })?;
    Ok(Some((name, version, list.targets().map(str::to_owned).collect())))
}

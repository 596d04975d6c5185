//! What the commits of an array come to, with those that were gathered, ignored and replaced.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_storage::EntryKind;
use tdb_types::names::{OK_EXTENSION, WRITE_EXTENSION};
use tdb_types::{ByteReader, DecodeError, FormatVersion, TimestampedName};

use super::{COMMITS_FOLDER, EmbeddedDelete, Listing, file_name};
use crate::array::Findings;
use crate::{ArrayError, Result, TimeRange};

/// All commits of an array, before any question of time.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Paths of committed writes, deletes and updates.
    paths: BTreeSet<String>,
    /// Those of them that were gathered.
    pub(super) gathered: HashSet<String>,
    /// The deletes that lie in a consolidated file, by their paths.
    pub(super) embedded: BTreeMap<String, EmbeddedDelete>,
    /// For each vacuum file the name of the consolidated fragment and the folders that it replaces.
    vacuums: Vec<(TimestampedName, FormatVersion, Vec<String>)>,
}

impl Commits {
    pub(super) fn gather(&mut self, listing: &Listing, findings: &mut Findings) -> Result<()> {
        let mut ignored = HashSet::new();
        for (path, bytes) in &listing.commit_files {
            let fail = |source: DecodeError| ArrayError::Commits { file: path.clone(), source };
            match CommitKind::of(path) {
                Some(CommitKind::Consolidated) => {
                    // All of it or nothing counts.
                    let sound = ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |_| ()).map_err(fail);
                    if findings.of(path, sound)?.is_some() {
                        self.take_gathered(path, bytes).map_err(fail)?;
                    }
                }
                Some(CommitKind::Ignore) => {
                    findings
                        .of(path, timestamped_paths(bytes, |path| path).map_err(fail))?
                        .into_iter()
                        .for_each(|list| ignored.extend(list));
                }
                Some(CommitKind::Vacuum) => {
                    let list = timestamped_paths(bytes, PathList::target).map_err(fail);
                    let replaced = findings.of(path, list.and_then(|list| replaced(path, list)))?;
                    self.vacuums.extend(replaced.flatten());
                }
                _ => {}
            }
        }
        // Only writes that were gathered can be ignored: a commit file that is still there counts.
        let gathered = std::mem::take(&mut self.paths).into_iter();
        let counting =
            gathered.filter(|path| CommitKind::of(path) != Some(CommitKind::Write) || !ignored.contains(path));
        self.paths = counting.map(as_own).collect();
        for (entries, folder) in [(&listing.root, ""), (&listing.commits, COMMITS_FOLDER)] {
            let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
            let commits = files.filter(|entry| CommitKind::of(&entry.name).is_some_and(|kind| !kind.lists_files()));
            self.paths.extend(commits.map(|entry| match folder {
                "" => entry.name.clone(),
                folder => format!("{folder}/{}", entry.name),
            }));
        }
        let folders = listing.root.iter().filter(|entry| entry.kind == EntryKind::Folder);
        let folders: HashSet<&str> = folders.map(|entry| entry.name.as_str()).collect();
        self.paths.retain(|path| match path.strip_suffix(OK_EXTENSION).and_then(|path| path.strip_suffix('.')) {
            Some(fragment) => folders.contains(fragment),
            None => true,
        });
        Ok(())
    }

    /// Takes up what is gathered in a file. Names without a time say nothing, and aren't kept.
    fn take_gathered(&mut self, file: &str, bytes: &[u8]) -> Result<(), DecodeError> {
        ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |entry| {
            if !has_time(entry.path) {
                return;
            }
            let delete = |bytes: &[u8]| EmbeddedDelete { file: file.to_owned(), bytes: bytes.into() };
            self.embedded.extend(entry.commit.map(|commit| (entry.path.to_owned(), delete(commit))));
            self.paths.insert(entry.path.to_owned());
            self.gathered.insert(entry.path.to_owned());
        })
    }

    /// Paths of the committed writes.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &str> {
        self.of_kind(CommitKind::Write)
    }

    /// Paths of the delete and update commits within `time`, oldest first.
    pub(super) fn deletes(&self, time: TimeRange) -> Vec<String> {
        let mut deletes: Vec<_> = self
            .of_kind(CommitKind::Delete)
            .chain(self.of_kind(CommitKind::Update))
            .filter_map(|path| Some((TimestampedName::parse(file_name(path))?, path)))
            .filter(|(name, _)| time.contains(name.start(), name.end()))
            .collect();
        deletes.sort_by_key(|(name, path)| (name.start(), *path));
        deletes.into_iter().map(|(_, path)| path.to_owned()).collect()
    }

    /// Folders of the fragments that are replaced by a consolidated fragment which `visible` says the reader sees.
    pub(super) fn vacuumed(&self, visible: impl Fn(&TimestampedName, FormatVersion) -> bool) -> HashSet<&String> {
        let visible = self.vacuums.iter().filter(|(name, version, _)| visible(name, *version));
        visible.flat_map(|(_, _, folders)| folders).collect()
    }

    fn of_kind(&self, kind: CommitKind) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str).filter(move |path| CommitKind::of(path) == Some(kind))
    }
}

/// Whether the last component of a path is a name with a time: all others can't be those of commits or fragments.
fn has_time(path: &str) -> bool {
    TimestampedName::parse(file_name(path)).is_some()
}

/// What the lines of a list of paths come to, of those that have a time.
fn timestamped_paths(bytes: &[u8], target: impl Fn(&str) -> &str) -> Result<Vec<String>, DecodeError> {
    let mut paths = Vec::new();
    PathList::for_each(&mut ByteReader::new(bytes), |path| {
        let path = target(path);
        if has_time(path) {
            paths.push(path.to_owned());
        }
    })?;
    Ok(paths)
}

/// What a gathered path means: a write belongs to this array whatever folder or array it names, as the reference library has
/// it, but a file that commits what lies in the array's own folder has to lie there.
fn as_own(path: String) -> String {
    match path.rsplit_once('.') {
        Some((_, WRITE_EXTENSION)) => format!("{COMMITS_FOLDER}/{}", file_name(&path)),
        _ => path,
    }
}

/// The consolidated fragment that a vacuum file belongs to, and the folders of those that it replaces.
fn replaced(path: &str, targets: Vec<String>) -> Result<Option<(TimestampedName, FormatVersion, Vec<String>)>> {
    let Some(name) = TimestampedName::parse(file_name(path)) else { return Ok(None) };
    let version = name.fragment_version().map_err(|source| ArrayError::Version { file: path.to_owned(), source })?;
    Ok(Some((name, version, targets)))
}

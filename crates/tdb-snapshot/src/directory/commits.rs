//! The commits of an array, after resolving consolidated, ignored and vacuum files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tdb_metadata::{CommitKind, ConsolidatedCommits, PathList};
use tdb_storage::EntryKind;
use tdb_types::names::{COMMITS_FOLDER, OK_EXTENSION, WRITE_EXTENSION, file_name};
use tdb_types::{ByteReader, DecodeError, FormatVersion, TimestampedName};

use super::embedded::EmbeddedDelete;
use super::listing::Listing;
use crate::damage::Findings;
use crate::{ArrayError, Result, TimeRange};

/// All commits of an array, independent of time.
///
/// Names of consolidated commits borrow from the bytes of the file, because a file may contain
/// millions of names.
#[derive(Debug, Default)]
pub(super) struct Commits<'a> {
    /// Paths of committed writes, deletes and updates, sorted and unique.
    pub(super) paths: Vec<Cow<'a, str>>,
    /// Paths in consolidated files in stored form, sorted.
    consolidated: Vec<&'a str>,
    /// The deletes stored in a consolidated file, by path.
    pub(super) embedded: BTreeMap<String, EmbeddedDelete>,
    vacuums: Vec<Vacuum<'a>>,
}

/// A vacuum file.
#[derive(Debug)]
struct Vacuum<'a> {
    /// The name of the consolidated fragment.
    name: TimestampedName,
    version: FormatVersion,
    /// The folders of the superseded fragments.
    folders: Vec<Cow<'a, str>>,
}

impl<'a> Commits<'a> {
    pub(super) fn gather(listing: &'a Listing, findings: &mut Findings) -> Result<Self> {
        let mut commits = Self::default();
        let mut ignored = Vec::new();
        for (path, bytes) in &listing.commit_files {
            let fail = |source: DecodeError| ArrayError::Commits { file: path.clone(), source };
            match CommitKind::of(path) {
                Some(CommitKind::Consolidated) => {
                    // The whole file is validated before any commit takes effect.
                    let sound = ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |_| ()).map_err(fail);
                    if findings.of(path, sound)?.is_some() {
                        commits.take_consolidated(path, bytes).map_err(fail)?;
                    }
                }
                Some(CommitKind::Ignore) => {
                    // Only consolidated writes can be ignored. A commit with a separate file stays
                    // in effect.
                    let list =
                        paths_of(bytes, |path| (CommitKind::of(path) == Some(CommitKind::Write)).then_some(path));
                    ignored.extend(findings.of(path, list.map_err(fail))?.into_iter().flatten());
                }
                Some(CommitKind::Vacuum) => {
                    let list = paths_of(bytes, |path| Some(PathList::target(path))).map_err(fail);
                    let vacuum = findings.of(path, list.and_then(|folders| Vacuum::of(path, folders)))?;
                    commits.vacuums.extend(vacuum.flatten());
                }
                _ => {}
            }
        }
        commits.consolidated.sort_unstable();
        commits.consolidated.dedup();
        ignored.sort_unstable();
        let counts = |path: &&&str| {
            CommitKind::of(path) != Some(CommitKind::Write)
                || ignored.binary_search_by(|other| (**other).cmp(**path)).is_err()
        };
        commits.paths = commits.consolidated.iter().filter(counts).map(|path| as_own(path)).collect();
        commits.take_files(listing);
        Ok(commits)
    }

    /// Adds the commits in a consolidated file. Skips names without a timestamp.
    fn take_consolidated(&mut self, file: &str, bytes: &'a [u8]) -> Result<(), DecodeError> {
        let file: Arc<str> = file.into();
        ConsolidatedCommits::for_each(&mut ByteReader::new(bytes), |entry| {
            if CommitKind::of(entry.path).is_none_or(CommitKind::lists_files) || !has_time(entry.path) {
                return;
            }
            let delete = |bytes: &[u8]| EmbeddedDelete { file: Arc::clone(&file), bytes: bytes.into() };
            self.embedded.extend(entry.commit.map(|commit| (entry.path.to_owned(), delete(commit))));
            self.consolidated.push(entry.path);
        })
    }

    /// Adds the commits with separate files. Drops `.ok` commits of missing fragment folders.
    fn take_files(&mut self, listing: &'a Listing) {
        for (entries, folder) in [(&listing.root, ""), (&listing.commits, COMMITS_FOLDER)] {
            let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
            let commits = files.filter(|entry| CommitKind::of(&entry.name).is_some_and(|kind| !kind.lists_files()));
            self.paths.extend(commits.map(|entry| match folder {
                "" => Cow::Borrowed(entry.name.as_str()),
                folder => Cow::Owned(format!("{folder}/{}", entry.name)),
            }));
        }
        let folders = listing.root.iter().filter(|entry| entry.kind == EntryKind::Folder);
        let folders: HashSet<&str> = folders.map(|entry| entry.name.as_str()).collect();
        self.paths.retain(|path| match path.strip_suffix(OK_EXTENSION).and_then(|path| path.strip_suffix('.')) {
            Some(fragment) => folders.contains(fragment),
            None => true,
        });
        self.paths.sort_unstable();
        self.paths.dedup();
    }

    /// Returns `true` if the commit is in a consolidated file.
    pub(super) fn is_consolidated(&self, path: &str) -> bool {
        self.consolidated.binary_search(&path).is_ok()
    }

    /// Returns the paths of committed writes.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &str> {
        self.of_kind(CommitKind::Write)
    }

    /// Returns the paths of delete and update commits within `time`, oldest first.
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

    /// Returns the folders superseded by a consolidated fragment `visible` to the reader.
    pub(super) fn vacuumed(&self, visible: impl Fn(&TimestampedName, FormatVersion) -> bool) -> HashSet<&str> {
        let visible = self.vacuums.iter().filter(|vacuum| visible(&vacuum.name, vacuum.version));
        visible.flat_map(|vacuum| &vacuum.folders).map(|folder| &**folder).collect()
    }

    fn of_kind(&self, kind: CommitKind) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| &**path).filter(move |path| CommitKind::of(path) == Some(kind))
    }
}

/// Returns `true` if the last component of a path is a name with timestamps, as for commits and
/// fragments.
fn has_time(path: &str) -> bool {
    TimestampedName::is_one(file_name(path))
}

/// Returns the suffix that `target` selects from each listed path, sorted and unique. Skips paths
/// without a suffix, and names without a timestamp.
fn paths_of<'a>(bytes: &'a [u8], target: impl Fn(&str) -> Option<&str>) -> Result<Vec<Cow<'a, str>>, DecodeError> {
    let mut paths = Vec::new();
    PathList::for_each(&mut ByteReader::new(bytes), |path| {
        let Some(found) = target(&path).filter(|path| has_time(path)) else { return };
        // `target` returns a suffix of the path.
        let start = path.len() - found.len();
        paths.push(match path {
            Cow::Borrowed(path) => Cow::Borrowed(&path[start..]),
            Cow::Owned(path) => Cow::Owned(path[start..].to_owned()),
        });
    })?;
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// Resolves a path of a consolidated commits file. Like the reference library, ignores the array
/// and folder parts of a `.wrt` path. Other paths are unchanged: an `.ok` commit must be in the
/// array's own folder.
pub(super) fn as_own(path: &str) -> Cow<'_, str> {
    let name = file_name(path);
    let is_own = path.strip_prefix(COMMITS_FOLDER).and_then(|path| path.strip_prefix('/')) == Some(name);
    match path.rsplit_once('.') {
        Some((_, WRITE_EXTENSION)) if !is_own => Cow::Owned(format!("{COMMITS_FOLDER}/{name}")),
        _ => Cow::Borrowed(path),
    }
}

impl<'a> Vacuum<'a> {
    /// Creates the vacuum file at `path` with these folders. Returns `None` if the file name has no
    /// timestamps.
    fn of(path: &str, folders: Vec<Cow<'a, str>>) -> Result<Option<Self>> {
        let Some(name) = TimestampedName::parse(file_name(path)) else { return Ok(None) };
        let version =
            name.fragment_version().map_err(|source| ArrayError::Version { file: path.to_owned(), source })?;
        Ok(Some(Self { name, version, folders }))
    }
}

//! Commit files and the files that gather, ignore and replace them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use tdb_storage::EntryKind;
use tdb_types::{ByteReader, FormatVersion, TimestampedName};

use super::{COMMITS_FOLDER, FRAGMENTS_FOLDER, Listing};
use crate::{ArrayError, Result, TimeRange};

/// What a commit file says, told by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitFile {
    /// A fragment was written: `.wrt`, before format 12 `.ok`.
    Write,
    /// Cells were deleted by a condition: `.del`.
    Delete,
    /// Cells were updated by a condition: `.upd`.
    Update,
    /// Commits gathered in one file: `.con`.
    Consolidated,
    /// Gathered commits to ignore: `.ign`.
    Ignore,
    /// Fragments that a consolidated one replaces: `.vac`.
    Vacuum,
}

impl CommitFile {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name.rsplit_once('.')?.1 {
            "wrt" | "ok" => Self::Write,
            "del" => Self::Delete,
            "upd" => Self::Update,
            "con" => Self::Consolidated,
            "ign" => Self::Ignore,
            "vac" => Self::Vacuum,
            _ => return None,
        })
    }

    /// Whether its contents, and not its name alone, decide what counts.
    pub(crate) fn has_content(self) -> bool {
        matches!(self, Self::Consolidated | Self::Ignore | Self::Vacuum)
    }
}

/// All commits of an array, before any question of time.
#[derive(Debug, Default)]
pub(super) struct Commits {
    /// Paths of committed writes and deletes.
    paths: BTreeSet<String>,
    /// The bytes of delete commits that lie in a consolidated file, by their paths.
    pub(super) embedded: BTreeMap<String, Arc<[u8]>>,
    /// For each vacuum file the name of the consolidated fragment and the folders that it replaces.
    vacuums: Vec<(TimestampedName, FormatVersion, Vec<String>)>,
}

impl Commits {
    pub(super) fn gather(&mut self, listing: &Listing) -> Result<()> {
        let mut ignored = HashSet::new();
        for (path, bytes) in &listing.commit_files {
            match CommitFile::of(path) {
                Some(CommitFile::Consolidated) => {
                    for (entry, embedded) in consolidated_entries(path, bytes)? {
                        self.embedded.extend(embedded.map(|bytes| (entry.clone(), bytes.into())));
                        self.paths.insert(entry);
                    }
                }
                Some(CommitFile::Ignore) => ignored.extend(lines(path, bytes)?.map(str::to_owned)),
                Some(CommitFile::Vacuum) => self.vacuums.extend(vacuum_file(path, bytes)?),
                _ => {}
            }
        }
        // Only what was gathered can be ignored: a commit file that is still there counts.
        self.paths.retain(|path| !ignored.contains(path));
        for (entries, folder) in [(&listing.root, ""), (&listing.commits, COMMITS_FOLDER)] {
            let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
            let commits = files.filter(|entry| CommitFile::of(&entry.name).is_some_and(|kind| !kind.has_content()));
            self.paths.extend(commits.map(|entry| match folder {
                "" => entry.name.clone(),
                folder => format!("{folder}/{}", entry.name),
            }));
        }
        Ok(())
    }

    /// Paths of the committed writes.
    pub(super) fn fragments(&self) -> impl Iterator<Item = &str> {
        self.of_kind(CommitFile::Write)
    }

    /// Paths of the delete and update commits within `time`, oldest first.
    pub(super) fn deletes(&self, time: TimeRange) -> Vec<String> {
        let mut deletes: Vec<_> = self
            .of_kind(CommitFile::Delete)
            .chain(self.of_kind(CommitFile::Update))
            .filter_map(|path| Some((TimestampedName::parse(file_name(path))?, path)))
            .filter(|(name, _)| time.contains(name.start(), name.end()))
            .collect();
        deletes.sort_by_key(|(name, path)| (name.start(), *path));
        deletes.into_iter().map(|(_, path)| path.to_owned()).collect()
    }

    /// Folders of the fragments that are replaced by a consolidated fragment which `visible` says the reader sees.
    pub(super) fn vacuumed(&self, visible: impl Fn(&TimestampedName, FormatVersion) -> bool) -> HashSet<&str> {
        let visible = self.vacuums.iter().filter(|(name, version, _)| visible(name, *version));
        visible.flat_map(|(_, _, folders)| folders.iter().map(String::as_str)).collect()
    }

    fn of_kind(&self, kind: CommitFile) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str).filter(move |path| CommitFile::of(path) == Some(kind))
    }
}

/// A path in a `.con` file, and the commit's bytes if they follow.
type ConsolidatedEntry<'b> = (String, Option<&'b [u8]>);

/// The entries of a `.con` file: paths ended by a newline; those of delete commits are followed by a `u64` length and
/// the commit file's own bytes.
fn consolidated_entries<'b>(path: &str, bytes: &'b [u8]) -> Result<Vec<ConsolidatedEntry<'b>>> {
    let corrupt = |what: String| ArrayError::Corrupt { file: path.to_owned(), what };
    let mut entries = Vec::new();
    let mut reader = ByteReader::new(bytes);
    while reader.remaining() > 0 {
        let offset = reader.offset();
        let len = reader.rest().iter().position(|&byte| byte == b'\n');
        let len = len.ok_or_else(|| corrupt(format!("entry at {offset:#x} has no newline")))?;
        let entry = reader.string("path of a commit", len as u64).map_err(|error| corrupt(error.to_string()))?;
        let mut embedded = || -> tdb_types::Result<Option<&'b [u8]>> {
            reader.u8("newline")?;
            if CommitFile::of(&entry) != Some(CommitFile::Delete) {
                return Ok(None);
            }
            let len = reader.u64("length of a delete commit")?;
            reader.bytes("delete commit", len).map(Some)
        };
        let embedded = embedded().map_err(|error| corrupt(error.to_string()))?;
        entries.push((entry, embedded));
    }
    Ok(entries)
}

/// The fragments that a vacuum file names. Lines are absolute URIs before format 19 and paths below the array with a
/// leading slash from then on; an array may have been moved since, so only what follows the array's folder counts.
fn vacuum_file(path: &str, bytes: &[u8]) -> Result<Option<(TimestampedName, FormatVersion, Vec<String>)>> {
    let Some(name) = TimestampedName::parse(file_name(path)) else { return Ok(None) };
    let version = name.fragment_version().map_err(|source| ArrayError::Version { file: path.to_owned(), source })?;
    let folders = lines(path, bytes)?.map(|line| match line.rfind(FRAGMENTS_FOLDER) {
        Some(start) => line[start..].to_owned(),
        None => file_name(line).to_owned(),
    });
    Ok(Some((name, version, folders.collect())))
}

fn lines<'a>(path: &str, bytes: &'a [u8]) -> Result<impl Iterator<Item = &'a str>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ArrayError::Corrupt { file: path.to_owned(), what: "not text".to_owned() })?;
    Ok(text.lines().map(|line| line.trim_end_matches('/')).filter(|line| !line.is_empty()))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

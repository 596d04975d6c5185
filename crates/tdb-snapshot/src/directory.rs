//! Which files of an array count: a pure function of the names in its folders and a range of time.
//!
//! Both generations of the layout are always looked at and merged, for an array that newer releases appended to has
//! both: fragments in the array's own folder, committed by their metadata file (formats 1 to 4) or by a file
//! `<name>.ok` (formats 5 to 11), and fragments in `__fragments`, committed by `__commits/<name>.wrt` (format 12 on).
//! Commits may be gathered in `.con` files, from which `.ign` files take some back; `.vac` files name fragments that
//! a consolidated one replaces. Where these contradict each other, what release 2.30.0 makes of it counts.

mod commits;
mod embedded;
mod inventory;
mod listing;

use std::collections::BTreeMap;

use tdb_storage::{Entry, EntryKind};
use tdb_types::names::{COMMITS_FOLDER, COORDINATES, DATA_EXTENSION, FRAGMENT_METADATA, FRAGMENTS_FOLDER};
use tdb_types::{ArrayType, Feature, FormatVersion, TimestampedName};

use crate::damage::Findings;
use crate::{ArrayError, Result, TimeRange};

pub use embedded::EmbeddedDelete;
pub use inventory::{CommitInventory, CommitList, CommittedFragment};
pub use listing::Listing;

/// The fragments and delete commits of an array that count at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDirectory {
    /// The committed fragments, oldest first; a later one wins over an earlier one.
    pub fragments: Vec<FragmentEntry>,
    /// The committed fragments that a vacuum at that time would remove, oldest first: others, which count in their place,
    /// were consolidated from them. Their files are still there, or at least what commits them.
    pub replaced: Vec<FragmentEntry>,
    /// How many committed fragments don't count because they were written at other times.
    pub of_other_times: usize,
    /// Paths of the delete (and update) commits that apply, oldest first.
    pub deletes: Vec<String>,
    /// Those that lie in a file of consolidated commits, by their paths. Their own files may be gone, and don't count if not.
    pub embedded_deletes: BTreeMap<String, EmbeddedDelete>,
}

/// A committed fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentEntry {
    /// The name of its folder.
    pub name: TimestampedName,
    /// The path of its folder below the array's.
    pub folder: String,
    /// The format version that its name states.
    pub version: FormatVersion,
    /// Whether its folder holds `__coords.tdb`, which in formats 1 and 2 is all that distinguishes sparse fragments from
    /// dense ones. Only the folders of formats 1 to 4 are looked into.
    pub has_coordinates: bool,
}

impl ArrayDirectory {
    /// Decides what counts, for an array of this type looked at over `time`.
    ///
    /// # Errors
    /// A committed fragment of an unknown version, or a commit file that can't be read.
    pub fn resolve(listing: &Listing, array_type: ArrayType, time: TimeRange) -> Result<Self> {
        Self::resolve_with(listing, array_type, time, &mut Findings::strict())
    }

    /// The same, with errors that leave out what they are about.
    pub(crate) fn resolve_with(
        listing: &Listing,
        array_type: ArrayType,
        time: TimeRange,
        findings: &mut Findings,
    ) -> Result<Self> {
        let commits = commits::Commits::gather(listing, findings)?;
        let mut fragments = Vec::new();
        for (name, files) in &listing.legacy_folders {
            fragments.extend(findings.of(name, FragmentEntry::without_commit(name, files))?.flatten());
        }
        for path in commits.fragments() {
            fragments.extend(findings.of(path, FragmentEntry::committed_by(path))?.flatten());
        }
        let visible = |entry: &FragmentEntry| is_visible(&entry.name, entry.version, array_type, time);
        let vacuumed = commits.vacuumed(|name, version| is_visible(name, version, array_type, time));
        // Equal start times: the larger name wins, as a stable sort of the sorted listing gives.
        fragments.sort_by(|a, b| (a.name.start(), a.name.as_str()).cmp(&(b.name.start(), b.name.as_str())));
        fragments.dedup_by(|a, b| a.folder == b.folder);
        let all = fragments.len();
        fragments.retain(visible);
        let of_other_times = all - fragments.len();
        let (replaced, fragments) = fragments.into_iter().partition(|entry| vacuumed.contains(entry.folder.as_str()));
        let deletes = commits.deletes(time);
        Ok(Self { fragments, replaced, of_other_times, deletes, embedded_deletes: commits.embedded })
    }
}

/// Where a committed fragment lies, and what commits it, whatever replaces it.
#[derive(Clone, Debug)]
pub struct FragmentFiles {
    /// The name of its folder.
    pub name: TimestampedName,
    /// The path of its folder.
    pub folder: String,
    /// The path of the file that commits it, which may have been gathered with others; none if its metadata does.
    pub commit: Option<String>,
    /// Whether its commit was gathered with others.
    pub is_gathered: bool,
}

impl FragmentFiles {
    /// All committed fragments, of all times, those that others replace included.
    pub(crate) fn of(listing: &Listing) -> Result<Vec<Self>> {
        let commits = commits::Commits::gather(listing, &mut Findings::strict())?;
        let mut all = Vec::new();
        for (name, files) in &listing.legacy_folders {
            let entry = FragmentEntry::without_commit(name, files)?;
            let plain = |FragmentEntry { name, folder, .. }| Self { name, folder, commit: None, is_gathered: false };
            all.extend(entry.map(plain));
        }
        for path in commits.fragments() {
            let is_gathered = commits.is_gathered(path);
            let entry = FragmentEntry::committed_by(path)?;
            let committed =
                |FragmentEntry { name, folder, .. }| Self { name, folder, commit: Some(path.to_owned()), is_gathered };
            all.extend(entry.map(committed));
        }
        Ok(all)
    }
}

impl FragmentEntry {
    /// The fragments that a reader of `time` probably wants, by names alone, and perhaps some more; `None` if there are files
    /// that have to be read first to know it.
    pub(crate) fn probable(listing: &Listing, time: TimeRange) -> Option<Vec<Self>> {
        if !listing.wanted_files().is_empty() {
            return None;
        }
        // Of dense arrays not more is visible than of sparse ones.
        let directory = ArrayDirectory::resolve(listing, ArrayType::Sparse, time).ok()?;
        Some(directory.fragments)
    }

    /// The fragment of format 1 to 4 in the folder `name`, which these files lie in; none without metadata, which is
    /// written last.
    fn without_commit(name: &str, files: &[Entry]) -> Result<Option<Self>> {
        let has = |name: &str| files.iter().any(|entry| entry.name == name && entry.kind == EntryKind::File);
        if !has(FRAGMENT_METADATA) {
            return Ok(None);
        }
        let entry = Self::new(name, name.to_owned())?;
        Ok(entry.map(|entry| Self { has_coordinates: has(&format!("{COORDINATES}.{DATA_EXTENSION}")), ..entry }))
    }

    /// The fragment that the commit file at `path` (`__commits/<name>.wrt` or `<name>.ok`) commits.
    fn committed_by(path: &str) -> Result<Option<Self>> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let in_folder = folder == COMMITS_FOLDER;
        let parent = if in_folder { format!("{FRAGMENTS_FOLDER}/") } else { String::new() };
        let entry = Self::new(name, format!("{parent}{name}"))?;
        // The version decides where a fragment and its commit lie.
        let feature = if in_folder { Feature::CommitsFolder } else { Feature::RootCommits };
        match entry {
            Some(entry) if !entry.version.has(feature) || !(in_folder || folder.is_empty()) => {
                let what = format!("a fragment of format {} can't be committed by a file here", entry.version);
                Err(ArrayError::Corrupt { file: path.to_owned(), what })
            }
            entry => Ok(entry),
        }
    }

    fn new(name: &str, folder: String) -> Result<Option<Self>> {
        // What a dot follows is no fragment, but some file of the same name.
        let Some(name) = TimestampedName::parse(name).filter(|_| !name.contains('.')) else { return Ok(None) };
        let version = name.fragment_version().map_err(|source| ArrayError::Version { file: folder.clone(), source })?;
        Ok(Some(Self { name, folder, version, has_coordinates: false }))
    }
}

/// Whether what happened over the name's range shows to a reader of `time`. Sparse fragments from format 15 on carry a
/// time per cell when they cover more than one, so that part of the range is enough.
fn is_visible(name: &TimestampedName, version: FormatVersion, array_type: ArrayType, time: TimeRange) -> bool {
    if array_type == ArrayType::Sparse && version.has(Feature::PartialTimeOverlap) {
        time.intersects(name.start(), name.end())
    } else {
        time.contains(name.start(), name.end())
    }
}

#[cfg(test)]
mod tests;

//! The files of an array that are in effect. Only a listing, the array type and a time range
//! determine these files.
//!
//! Both generations of the layout are always read and merged, because newer releases add the new
//! layout to old arrays:
//! - Fragments in the array's own folder, committed by a metadata file (formats 1 to 4) or by a
//!   file `<name>.ok` (formats 5 to 11).
//! - Fragments in `__fragments`, committed by `__commits/<name>.wrt` (format 12 on).
//!
//! A `.con` file contains consolidated commits. An `.ign` file withdraws consolidated commits. A
//! `.vac` file lists the fragments superseded by a consolidated fragment. Contradictions are
//! resolved as release 2.30.0 does.

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

/// The fragments and delete commits of an array that are in effect in a time range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayDirectory {
    /// The committed fragments, oldest first. Cells of later fragments supersede cells of earlier
    /// fragments.
    pub fragments: Vec<FragmentEntry>,
    /// The committed fragments superseded by consolidated fragments in `fragments`, oldest first. A
    /// vacuum at the same time would remove these fragments. The files, or at least the commits,
    /// still exist.
    pub replaced: Vec<FragmentEntry>,
    /// The number of committed fragments outside of the time range.
    pub of_other_times: usize,
    /// Paths of the delete and update commits in effect, oldest first.
    pub deletes: Vec<String>,
    /// Deletes stored in a file of consolidated commits, by path. Separate files of these deletes
    /// are ignored.
    pub embedded_deletes: BTreeMap<String, EmbeddedDelete>,
}

/// A committed fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentEntry {
    /// The name of the fragment folder.
    pub name: TimestampedName,
    /// The path of the fragment folder below the array's folder.
    pub folder: String,
    /// The format version in the fragment name.
    pub version: FormatVersion,
    /// `true` if the folder contains `__coords.tdb`. In formats 1 and 2 only this file
    /// distinguishes sparse from dense fragments. Always `false` after format 4, because newer
    /// fragment folders are not listed.
    pub has_coordinates: bool,
}

impl ArrayDirectory {
    /// Determines the files in effect for an array of this type over `time`.
    ///
    /// # Errors
    /// A commit list is damaged, a commit file is not allowed in its folder, or the name of a
    /// fragment or vacuum file has an unknown format version.
    pub fn resolve(listing: &Listing, array_type: ArrayType, time: TimeRange) -> Result<Self> {
        Self::resolve_with(listing, array_type, time, &mut Findings::strict())
    }

    /// Determines the files like [`resolve`](Self::resolve), and reports errors to `findings` in
    /// order to skip damaged parts.
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
        // Among equal start times the larger name wins, as in a stable sort of the sorted listing.
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

impl FragmentEntry {
    /// Returns the fragments probably needed by a reader of `time`, by name alone. May include more
    /// fragments. Returns `None` if commit lists must be read first, or if the listing has errors.
    pub(crate) fn probable(listing: &Listing, time: TimeRange) -> Option<Vec<Self>> {
        if !listing.wanted_files().is_empty() {
            return None;
        }
        // Sparse arrays see a superset of the fragments visible in dense arrays.
        let directory = ArrayDirectory::resolve(listing, ArrayType::Sparse, time).ok()?;
        Some(directory.fragments)
    }

    /// Returns the fragment of formats 1 to 4 in the folder `name` with these files. Returns `None`
    /// without metadata: writers create the metadata file last.
    fn without_commit(name: &str, files: &[Entry]) -> Result<Option<Self>> {
        let has = |name: &str| files.iter().any(|entry| entry.name == name && entry.kind == EntryKind::File);
        if !has(FRAGMENT_METADATA) {
            return Ok(None);
        }
        let entry = Self::new(name, name.to_owned())?;
        Ok(entry.map(|entry| Self { has_coordinates: has(&format!("{COORDINATES}.{DATA_EXTENSION}")), ..entry }))
    }

    /// Returns the fragment of the commit file at `path`. The path is `__commits/<name>.wrt` or
    /// `<name>.ok`.
    fn committed_by(path: &str) -> Result<Option<Self>> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let name = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let in_folder = folder == COMMITS_FOLDER;
        let parent = if in_folder { format!("{FRAGMENTS_FOLDER}/") } else { String::new() };
        let entry = Self::new(name, format!("{parent}{name}"))?;
        // The version determines the locations of fragment and commit.
        let feature = if in_folder { Feature::CommitsFolder } else { Feature::RootCommits };
        match entry {
            Some(entry) if !entry.version.has(feature) || !(in_folder || folder.is_empty()) => {
                let what = format!(
                    "a commit file of a fragment of format version {} is not allowed in this folder",
                    entry.version
                );
                Err(ArrayError::Corrupt { file: path.to_owned(), what })
            }
            entry => Ok(entry),
        }
    }

    fn new(name: &str, folder: String) -> Result<Option<Self>> {
        // A name with a dot is not a fragment.
        let Some(name) = TimestampedName::parse(name).filter(|_| !name.contains('.')) else { return Ok(None) };
        let version = name.fragment_version().map_err(|source| ArrayError::Version { file: folder.clone(), source })?;
        Ok(Some(Self { name, folder, version, has_coordinates: false }))
    }
}

/// Returns `true` if a fragment with the name's time range is visible to a reader of `time`. From
/// format 15 on, consolidated sparse fragments store a timestamp per cell, and a partial overlap
/// suffices.
fn is_visible(name: &TimestampedName, version: FormatVersion, array_type: ArrayType, time: TimeRange) -> bool {
    if array_type == ArrayType::Sparse && version.has(Feature::PartialTimeOverlap) {
        time.intersects(name.start(), name.end())
    } else {
        time.contains(name.start(), name.end())
    }
}

#[cfg(test)]
mod tests;

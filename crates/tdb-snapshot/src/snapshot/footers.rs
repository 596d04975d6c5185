//! Consolidated fragment metadata: the footers of many fragments in one read.

use std::collections::HashMap;

use tdb_fragment::ConsolidatedFooters;
use tdb_storage::{EntryKind, Storage, StorageError, at_once};
use tdb_types::names::FRAGMENT_META_FOLDER;
use tdb_types::{ByteReader, ErrorCategory, TimestampedName};

use crate::access::Access;
use crate::damage::Damaged;
use crate::directory::Listing;
use crate::fragment::has_reliable_copies;
use crate::named::list_named;
use crate::{ArrayError, FragmentEntry, Result};

/// Files of consolidated fragment metadata, the newest first.
#[derive(Debug, Default)]
pub(super) struct Footers {
    files: Vec<(String, ConsolidatedFooters)>,
    /// For each fragment name, the index in `files` of the file with the footer.
    places: HashMap<String, usize>,
}

impl Footers {
    /// Reads consolidated footers, from the newest file on, until each fragment has a footer or no
    /// file is left. Reads only files with a time range that covers a fragment. A single fragment
    /// is read from its own file, because a consolidated file saves no read.
    ///
    /// A damaged file is recorded and skipped, because the fragments' own files hold the same
    /// footers. With `skip`, any other failure is recorded too.
    pub(super) fn read(
        storage: &dyn Storage,
        files: &FooterFiles,
        entries: &[FragmentEntry],
        access: &Access,
        skip: bool,
    ) -> Result<(Self, Vec<Damaged>)> {
        let (mut footers, mut noted) = (Self::default(), Vec::new());
        let mut missing: Vec<&FragmentEntry> = entries.iter().filter(|entry| has_footer(entry)).collect();
        if missing.len() < 2 {
            return Ok((footers, Vec::new()));
        }
        let listed = files.list(storage);
        let mut files = without_damaged(FRAGMENT_META_FOLDER, listed, skip, &mut noted)?.unwrap_or_default();
        // All files stay in memory until the fragments are loaded, so they share one limit.
        let mut access = access.clone();
        loop {
            let chosen = choose(&mut files, &missing);
            if chosen.is_empty() {
                return Ok((footers, noted));
            }
            let read = at_once(storage.profile().in_flight, &chosen, |path| access.read(storage, path));
            for (path, bytes) in chosen.into_iter().zip(read) {
                let parsed = bytes.and_then(|bytes| parse(storage, &path, &bytes, &access));
                let Some(parsed) = without_damaged(&path, parsed, skip, &mut noted)? else { continue };
                let left = access.limits.generic_tile_bytes.saturating_sub(parsed.memory_used());
                access.limits.generic_tile_bytes = left;
                let index = footers.files.len();
                missing.retain(|entry| {
                    let is_there = parsed.get(entry.name.as_str()).is_some();
                    if is_there {
                        footers.places.insert(entry.name.as_str().to_owned(), index);
                    }
                    !is_there
                });
                footers.files.push((storage.describe(&path), parsed));
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the footer of a fragment, and the file that contains it.
    pub(super) fn get(&self, entry: &FragmentEntry) -> Option<(&str, ByteReader<'_>)> {
        if !has_footer(entry) {
            return None;
        }
        let (file, footers) = self.files.get(*self.places.get(entry.name.as_str())?)?;
        Some((file.as_str(), footers.get(entry.name.as_str())?))
    }
}

/// Returns `true` if an error may affect the consolidated copy only: a damaged file, an unknown
/// format, or an exceeded limit. A storage failure would repeat for each fragment.
pub(super) fn is_of_copy(error: &ArrayError) -> bool {
    matches!(error.category(), ErrorCategory::Corrupt | ErrorCategory::Unsupported)
}

/// Returns the value. Returns `None` if the file was removed after the listing, or if the file is
/// unusable. Records an unusable file in `noted`.
fn without_damaged<T>(path: &str, read: Result<T>, skip: bool, noted: &mut Vec<Damaged>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if is_of_copy(&error) || (skip && error.category() != ErrorCategory::Cancelled) => {
            noted.push(Damaged { path: path.to_owned(), error });
            Ok(None)
        }
        Err(ArrayError::Storage(StorageError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes and returns the files that cover missing fragments, from the newest on. Assumes that
/// each file holds all footers in its time range.
fn choose(files: &mut Vec<(String, TimestampedName)>, missing: &[&FragmentEntry]) -> Vec<String> {
    let mut missing = missing.to_vec();
    let chosen = files.extract_if(.., |(_, name)| {
        let before = missing.len();
        missing.retain(|entry| !covers(name, entry));
        missing.len() < before
    });
    chosen.map(|(path, _)| path).collect()
}

/// Returns `true` if a file of this name may contain the footer of the fragment.
fn covers(file: &TimestampedName, entry: &FragmentEntry) -> bool {
    file.start() <= entry.name.start() && entry.name.end() <= file.end()
}

fn parse(storage: &dyn Storage, path: &str, bytes: &[u8], access: &Access) -> Result<ConsolidatedFooters> {
    ConsolidatedFooters::parse_file(bytes, &mut access.decoder(), None)
        .map_err(|source| ArrayError::Fragment { file: storage.describe(path), source }.or_partly_encrypted())
}

/// Returns `true` if consolidated copies of the fragment's footer are reliable.
fn has_footer(entry: &FragmentEntry) -> bool {
    has_reliable_copies(entry.version)
}

/// Locations of consolidated fragment metadata.
#[derive(Clone, Debug)]
pub(super) struct FooterFiles {
    /// The paths listed so far.
    listed: Vec<(String, TimestampedName)>,
    /// `true` if the folder `__fragment_meta` is still to be listed.
    has_more: bool,
}

impl FooterFiles {
    /// Returns the files of a listing. Before format 12, these files are in the array's own folder.
    pub(super) fn of(listing: &Listing) -> Self {
        let mut listed = metadata_files(&listing.root, "");
        listed.extend(metadata_files(
            listing.footers.as_deref().unwrap_or_default(),
            &format!("{FRAGMENT_META_FOLDER}/"),
        ));
        let is_there = listing.root.iter().any(|entry| entry.name == FRAGMENT_META_FOLDER);
        Self { listed, has_more: is_there && listing.footers.is_none() }
    }

    /// Returns `true` if one of the files may contain the footer of a fragment, according to the
    /// file names.
    pub(super) fn may_have(&self, entry: &FragmentEntry) -> bool {
        has_footer(entry) && (self.has_more || self.listed.iter().any(|(_, name)| covers(name, entry)))
    }

    /// Returns the paths of all files, the newest first.
    fn list(&self, storage: &dyn Storage) -> Result<Vec<(String, TimestampedName)>> {
        let mut files = self.listed.clone();
        if self.has_more {
            files.extend(metadata_files(
                &list_named(storage, FRAGMENT_META_FOLDER)?,
                &format!("{FRAGMENT_META_FOLDER}/"),
            ));
        }
        files.sort_by(|(_, a), (_, b)| (b.end(), b.start(), b.as_str()).cmp(&(a.end(), a.start(), a.as_str())));
        Ok(files)
    }
}

fn metadata_files(entries: &[tdb_storage::Entry], folder: &str) -> Vec<(String, TimestampedName)> {
    let files = entries.iter().filter(|entry| entry.kind == EntryKind::File && entry.name.ends_with(".meta"));
    files.filter_map(|entry| Some((format!("{folder}{}", entry.name), TimestampedName::parse(&entry.name)?))).collect()
}

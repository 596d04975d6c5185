//! Consolidated fragment metadata: the footers of many fragments for one read.

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

/// Files of consolidated fragment metadata that were read, the newest first.
#[derive(Debug, Default)]
pub(super) struct Footers {
    files: Vec<(String, ConsolidatedFooters)>,
    /// Which of the files has the footer of a fragment, by the fragment's name.
    places: HashMap<String, usize>,
}

impl Footers {
    /// Reads as many files, from the newest on, as have footers of the fragments that count, as far as the files' names say.
    /// Without them each footer takes a read of its own: one fragment isn't worth a look.
    ///
    /// A file that can't be used is only noted, for everything in it can be had elsewhere; so is whatever else is wrong with
    /// one, if `skip` says so.
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
        // All of them are held until the fragments are loaded, so that all together keep to the limit.
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

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The footer of a fragment, and the file that it stands in.
    pub(super) fn get(&self, entry: &FragmentEntry) -> Option<(&str, ByteReader<'_>)> {
        if !has_footer(entry) {
            return None;
        }
        let (file, footers) = self.files.get(*self.places.get(entry.name.as_str())?)?;
        Some((file.as_str(), footers.get(entry.name.as_str())?))
    }
}

/// Whether an error may come from a copy alone: it is damaged, states a format that there isn't, or asks for more than the limits
/// allow. A storage that fails would fail again, and once for each fragment.
pub(super) fn is_of_copy(error: &ArrayError) -> bool {
    matches!(error.category(), ErrorCategory::Corrupt | ErrorCategory::Unsupported)
}

/// What was read; nothing if it can't be used, which is noted, or was removed since it was listed.
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

/// Takes the files out, from the newest on, that have footers of the fragments if each has all that its name says.
fn choose(files: &mut Vec<(String, TimestampedName)>, missing: &[&FragmentEntry]) -> Vec<String> {
    let mut missing = missing.to_vec();
    let chosen = files.extract_if(.., |(_, name)| {
        let before = missing.len();
        missing.retain(|entry| !covers(name, entry));
        missing.len() < before
    });
    chosen.map(|(path, _)| path).collect()
}

/// Whether a file of this name may have the footer of the fragment.
fn covers(file: &TimestampedName, entry: &FragmentEntry) -> bool {
    file.start() <= entry.name.start() && entry.name.end() <= file.end()
}

fn parse(storage: &dyn Storage, path: &str, bytes: &[u8], access: &Access) -> Result<ConsolidatedFooters> {
    ConsolidatedFooters::parse_file(bytes, &mut access.decoder(), None)
        .map_err(|source| ArrayError::Fragment { file: storage.describe(path), source }.or_partly_encrypted())
}

/// Whether copies of the fragment's footer can be relied on.
fn has_footer(entry: &FragmentEntry) -> bool {
    has_reliable_copies(entry.version)
}

/// Where files of consolidated fragment metadata are.
#[derive(Clone, Debug)]
pub(super) struct FooterFiles {
    /// Their paths, as far as they were listed.
    listed: Vec<(String, TimestampedName)>,
    /// Whether the folder is still to be listed in which most are.
    has_more: bool,
}

impl FooterFiles {
    /// Those of a listing. Before format 12 they lie in the array's folder.
    pub(super) fn of(listing: &Listing) -> Self {
        let mut listed = metadata_files(&listing.root, "");
        listed.extend(metadata_files(
            listing.footers.as_deref().unwrap_or_default(),
            &format!("{FRAGMENT_META_FOLDER}/"),
        ));
        let is_there = listing.root.iter().any(|entry| entry.name == FRAGMENT_META_FOLDER);
        Self { listed, has_more: is_there && listing.footers.is_none() }
    }

    /// Whether one of them may have the footer of a fragment, as far as their names say.
    pub(super) fn may_have(&self, entry: &FragmentEntry) -> bool {
        has_footer(entry) && (self.has_more || self.listed.iter().any(|(_, name)| covers(name, entry)))
    }

    /// Paths of all of them, the newest first.
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

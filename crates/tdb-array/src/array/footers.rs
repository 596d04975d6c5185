//! Consolidated fragment metadata: the footers of many fragments for one read.

use std::collections::{HashMap, HashSet};

use tdb_fragment::ConsolidatedFooters;
use tdb_storage::{EntryKind, Storage};
use tdb_types::names::FRAGMENT_META_FOLDER;
use tdb_types::{ByteReader, Feature, TimestampedName};

use super::damage::Findings;
use crate::access::Access;
use crate::directory::Listing;
use crate::{ArrayDirectory, ArrayError, FragmentEntry, Result};

/// Files of consolidated fragment metadata that were read, the newest first.
#[derive(Debug, Default)]
pub(super) struct Footers {
    files: Vec<(String, ConsolidatedFooters)>,
    /// Which of the files has the footer of a fragment, by the fragment's name.
    places: HashMap<String, usize>,
}

impl Footers {
    /// Reads as many files, from the newest on, as have footers of the fragments that count. Without them each footer
    /// takes a read of its own: one fragment isn't worth a look.
    ///
    /// A file that can't be read is damage, though everything in it can be had elsewhere.
    pub(super) fn read(
        storage: &dyn Storage,
        listing: &Listing,
        directory: &ArrayDirectory,
        access: &Access,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut footers = Self::default();
        let mut missing: Vec<&FragmentEntry> = directory.fragments.iter().filter(|entry| has_footer(entry)).collect();
        if missing.len() < 2 {
            return Ok(footers);
        }
        let files = findings.of(FRAGMENT_META_FOLDER, files(storage, listing))?.unwrap_or_default();
        // All of them are held until the array is open, so that all together keep to the limit.
        let mut access = access.clone();
        for (path, name) in files {
            let covers = |entry: &&FragmentEntry| name.start() <= entry.name.start() && entry.name.end() <= name.end();
            if !missing.iter().any(covers) {
                continue;
            }
            let file = storage.describe(&path);
            let parse = |bytes: Vec<u8>| {
                let mut decoder = access.decoder();
                ConsolidatedFooters::parse_file(&bytes, &mut decoder, None)
                    .map_err(|source| ArrayError::Fragment { file: file.clone(), source }.beside_the_schema())
            };
            let parsed = access.read(storage, &path).and_then(parse);
            let Some(parsed) = findings.of(&path, parsed)? else { continue };
            access.limits.generic_tile_bytes = access.limits.generic_tile_bytes.saturating_sub(parsed.memory_used());
            let index = footers.files.len();
            missing.retain(|entry| {
                let is_there = parsed.get(entry.name.as_str()).is_some();
                if is_there {
                    footers.places.insert(entry.name.as_str().to_owned(), index);
                }
                !is_there
            });
            footers.files.push((file, parsed));
        }
        Ok(footers)
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

/// Whether the fragment's format has footers at all, and such that copies of them can be relied on: newer releases make them
/// longer by eight bytes where statistics came without a place for those of the whole fragment, but count them as they were,
/// so that all but the first lie behind where they should.
fn has_footer(entry: &FragmentEntry) -> bool {
    let version = entry.version;
    let grows = version.has(Feature::TileStatistics) && !version.has(Feature::FragmentStatistics);
    !version.has(Feature::LegacyFragmentMetadata) && !grows
}

/// Paths of all files of consolidated fragment metadata, the newest first. Before format 12 they lie in the array's folder.
fn files(storage: &dyn Storage, listing: &Listing) -> Result<Vec<(String, TimestampedName)>> {
    let of = |entries: &[tdb_storage::Entry], folder: &str| -> Vec<(String, TimestampedName)> {
        let files = entries.iter().filter(|entry| entry.kind == EntryKind::File && entry.name.ends_with(".meta"));
        files
            .filter_map(|entry| Some((format!("{folder}{}", entry.name), TimestampedName::parse(&entry.name)?)))
            .collect()
    };
    let mut files = of(&listing.root, "");
    let folders: HashSet<&str> = listing.root.iter().map(|entry| entry.name.as_str()).collect();
    if folders.contains(FRAGMENT_META_FOLDER) {
        files.extend(of(&storage.list(FRAGMENT_META_FOLDER)?, &format!("{FRAGMENT_META_FOLDER}/")));
    }
    files.sort_by(|(_, a), (_, b)| (b.end(), b.start(), b.as_str()).cmp(&(a.end(), a.start(), a.as_str())));
    Ok(files)
}

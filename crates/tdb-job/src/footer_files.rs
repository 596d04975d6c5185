//! Files of consolidated fragment metadata.

use tdb_array::Listing;
use tdb_storage::{Entry, EntryKind};
use tdb_types::TimestampedName;
use tdb_types::names::{FOOTERS_EXTENSION, FRAGMENT_META_FOLDER};

/// A file of consolidated fragment metadata.
#[derive(Debug)]
pub struct FooterFile {
    /// Path below the folder of the array.
    pub path: String,
    /// Name of the file.
    pub name: TimestampedName,
    /// Size in bytes.
    pub bytes: u64,
}

/// Returns the files of consolidated fragment metadata, newest first. Readers look for footers in
/// this order.
pub fn footer_files(listing: &Listing) -> Vec<FooterFile> {
    let of = |folder: &str, entry: &Entry| {
        let extension = entry.name.rsplit_once('.')?.1;
        let is_one = entry.kind == EntryKind::File && extension == FOOTERS_EXTENSION;
        let name = TimestampedName::parse(&entry.name).filter(|_| is_one)?;
        Some(FooterFile { path: format!("{folder}{}", entry.name), name, bytes: entry.size })
    };
    let folder = format!("{FRAGMENT_META_FOLDER}/");
    let mut files: Vec<FooterFile> = listing.root.iter().filter_map(|entry| of("", entry)).collect();
    files.extend(listing.footers.iter().flatten().filter_map(|entry| of(&folder, entry)));
    files.sort_by(|a, b| (b.name.end(), &b.name).cmp(&(a.name.end(), &a.name)));
    files
}

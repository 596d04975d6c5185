//! The files of consolidated fragment metadata.

use tdb_array::Listing;
use tdb_storage::{Entry, EntryKind};
use tdb_types::TimestampedName;
use tdb_types::names::{FOOTERS_EXTENSION, FRAGMENT_META_FOLDER};

/// One of them.
#[derive(Debug)]
pub struct FooterFile {
    /// Its path below the folder of the array.
    pub path: String,
    /// Its name.
    pub name: TimestampedName,
    /// Its size.
    pub bytes: u64,
}

/// All of a listing, in the order in which they are asked for footers: the newest first.
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

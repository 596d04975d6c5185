//! What lies in the folders of an array.

use std::fs;
use std::path::Path;

use tdb_types::TimestampedName;

/// The names of files and folders that end so, without the end.
pub fn names_in(folder: &Path, end: &str) -> Vec<TimestampedName> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| TimestampedName::parse(name.strip_suffix(end)?)).collect()
}

//! Timestamped names in a folder.

use std::fs;
use std::path::Path;

use tdb_types::TimestampedName;

/// Returns the timestamped names of files and folders with a suffix, without that suffix.
pub fn names_in(folder: &Path, end: &str) -> Vec<TimestampedName> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| TimestampedName::parse(name.strip_suffix(end)?)).collect()
}

//! A copy of an array on which the library runs tdb's operation.
//!
//! Reads before an operation do not show how a purge must turn out, or which times the cells of new
//! fragments must have. The copy does.

use std::fs;
use std::io;
use std::path::Path;

use tdb_cases::history::{Deed, History, Turn};
use tdb_types::Feature;

use super::defects::has_times;

/// Returns the URI of a copy if the operation is judged by a copy. Returns `None` otherwise.
pub fn of(history: &History, turn: &Turn, uri: &str, folder: &Path) -> Option<String> {
    let Deed::Join(join) = &turn.deed else { return None };
    // Older formats refer to fragments by absolute URIs.
    if !(join.purge || has_times(history)) || !history.version.has(Feature::RelativeVacuum) {
        return None;
    }
    let twin = folder.join("twin");
    let _ = fs::remove_dir_all(&twin);
    copy(Path::new(uri), &twin).ok()?;
    Some(twin.to_string_lossy().into_owned())
}

/// Copies a folder recursively.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

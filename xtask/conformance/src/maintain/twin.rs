//! A copy of an array, to which the library does what ours does: how a purge is judged, which nothing that was read before tells,
//! and what new fragments say of the times of cells.

use std::fs;
use std::io;
use std::path::Path;

use tdb_cases::history::{Deed, History, Turn};
use tdb_types::Feature;

use super::defects::has_times;

/// The URI of a copy, if what is done to the array is judged by one.
pub fn of(history: &History, turn: &Turn, uri: &str, folder: &Path) -> Option<String> {
    let Deed::Join(join) = &turn.deed else { return None };
    // Older formats name fragments by absolute URIs.
    if !(join.purge || has_times(history)) || !history.version.has(Feature::RelativeVacuum) {
        return None;
    }
    let twin = folder.join("twin");
    let _ = fs::remove_dir_all(&twin);
    copy(Path::new(uri), &twin).ok()?;
    Some(twin.to_string_lossy().into_owned())
}

/// Copies a folder with all that is in it.
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

//! Files that are there whole or not at all, whatever happens.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::durable::{sync_file, sync_parent};
use crate::temporary::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// Makes `place` with these bytes, through a temporary file in `root` if that is possible, else in its own folder.
///
/// In an array, the root is where all readers ignore a file with such a name, should a crash leave it there.
pub(super) fn create(root: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    // Asked first for the sake of the error: later ones could be about the temporary file.
    if fs::symlink_metadata(place).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let own = place.parent().unwrap_or(root);
    fs::read_dir(own)?;
    match through(root, place, bytes) {
        // A part of the array lies on another disk.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => through(own, place, bytes),
        other => other,
    }
}

/// Writes a temporary file in `folder`, then gives it its name.
fn through(folder: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = temporary(folder)?;
    let written = file.write_all(bytes).and_then(|()| sync_file(&file));
    // Closed first, because some systems refuse to delete what is open.
    drop(file);
    let named = written.and_then(|()| name(&temporary, place));
    // Either it has another name by now, or it is of no use. The first error is the one to report.
    let _ = fs::remove_file(&temporary);
    named?;
    sync_parent(place).inspect_err(|_| {
        let _ = fs::remove_file(place);
    })
}

/// Gives a file its name, which must not be taken.
fn name(temporary: &Path, place: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, place) {
        Err(error) if has_no_links(&error) => {
            // Renaming would overwrite; writers of arrays choose names that nobody else chooses.
            if fs::symlink_metadata(place).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(temporary, place)
        }
        other => other,
    }
}

/// Whether the file system has no links: not all of them do, and systems disagree on how they say so.
fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks)
}

/// A new file in `folder` with a name that marks it as temporary.
fn temporary(folder: &Path) -> io::Result<(std::path::PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("{TEMPORARY_PREFIX}{process}-{number}{TEMPORARY_SUFFIX}"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            // Left by a process that had the same number once, or one of another machine.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

//! Atomic creation of files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::durable::Durability;
use crate::temporary::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// Creates `place` with these bytes, through a temporary file in `root`. If the folder of `place`
/// is on another disk, the temporary file is in this folder.
///
/// All readers ignore a temporary file that a crash leaves in the root of an array.
pub(super) fn create(root: &Path, place: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    // Checked first because later errors could be about the temporary file.
    if fs::symlink_metadata(place).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let own = place.parent().unwrap_or(root);
    fs::read_dir(own)?;
    match through(root, place, bytes, durability) {
        // The folder of `place` is on another disk.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => through(own, place, bytes, durability),
        other => other,
    }
}

/// Creates or replaces `place` with these bytes, through a temporary file in the same folder.
pub(super) fn replace(place: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let (temporary, mut file) = temporary(place.parent().unwrap_or(place))?;
    let written = file.write_all(bytes).and_then(|()| durability.sync_file(&file));
    // Closed first because some systems cannot rename open files.
    drop(file);
    written.and_then(|()| fs::rename(&temporary, place)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    durability.sync_parent(place)
}

/// Writes a temporary file in `folder`, then moves it to the final name.
fn through(folder: &Path, place: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let (temporary, mut file) = temporary(folder)?;
    let written = file.write_all(bytes).and_then(|()| durability.sync_file(&file));
    // Closed first because some systems cannot delete open files.
    drop(file);
    let named = written.and_then(|()| name(&temporary, place));
    // The temporary name is obsolete after success and failure. Only the first error is reported.
    let _ = fs::remove_file(&temporary);
    named?;
    durability.sync_parent(place).inspect_err(|_| {
        let _ = fs::remove_file(place);
    })
}

/// Moves a file to the final name, which must not exist.
fn name(temporary: &Path, place: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, place) {
        Err(error) if has_no_links(&error) => {
            // Renaming would overwrite an existing file. This check is sufficient, because writers
            // of arrays choose unique names.
            if fs::symlink_metadata(place).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(temporary, place)
        }
        other => other,
    }
}

/// Returns `true` if the file system does not support hard links. Operating systems report this
/// with different errors.
fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks)
}

/// Creates a file in `folder` with a name marked as temporary.
fn temporary(folder: &Path) -> io::Result<(std::path::PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(format!("{TEMPORARY_PREFIX}{process}-{number}{TEMPORARY_SUFFIX}"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            // Left by an earlier process with the same id, or by a process of another machine.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

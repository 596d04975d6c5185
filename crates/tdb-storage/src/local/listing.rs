//! What a folder holds at one moment.
//!
//! The system gives names in pieces, and sizes one by one. Whoever replaces files makes the new one and then removes the old
//! one: in a listing that was read meanwhile both may be missing. Such a listing is read once more.

use std::fs;
use std::io;
use std::path::Path;

use crate::temporary::is_temporary;
use crate::{Entry, EntryKind};

/// So many names come in one piece at least, even if all are as long as they can be.
const ONE_PIECE: usize = 100;
/// A folder that changed all the time while it was read so often is shown as it was seen last, or not at all where files
/// vanished from it.
const ATTEMPTS: usize = 100;

/// The entries of a folder, in no order. Without `sizes` files are said to be empty.
pub(super) fn list(folder: &Path, sizes: bool) -> io::Result<Vec<Entry>> {
    for _ in 0..ATTEMPTS {
        let before = changed(folder);
        let Some(entries) = read(folder, sizes)? else { continue };
        if entries.len() <= ONE_PIECE || changed(folder) == before {
            return Ok(entries);
        }
    }
    match read(folder, sizes)? {
        Some(entries) => Ok(entries),
        None => Err(io::Error::other("files vanish faster than the folder can be listed")),
    }
}

/// When names in a folder have changed, where the system says.
fn changed(folder: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}

/// The entries, as they come; none if one was removed after its name was read.
fn read(folder: &Path, sizes: bool) -> io::Result<Option<Vec<Entry>>> {
    let mut entries = Vec::new();
    for item in fs::read_dir(folder)? {
        match entry(&item?, sizes)? {
            Shown::Entry(entry) => entries.push(entry),
            Shown::Nothing => {}
            Shown::Gone => return Ok(None),
        }
    }
    Ok(Some(entries))
}

/// What a listing shows for an item.
enum Shown {
    Entry(Entry),
    Nothing,
    Gone,
}

fn entry(item: &fs::DirEntry, sizes: bool) -> io::Result<Shown> {
    let Ok(name) = item.file_name().into_string() else { return Ok(Shown::Nothing) };
    let file_type = item.file_type()?;
    if file_type.is_dir() {
        // No look at the folder itself: arrays with many fragments have many, and their sizes mean nothing.
        return Ok(Shown::Entry(Entry::folder(name)));
    }
    if !sizes && file_type.is_file() {
        return Ok(Shown::Entry(Entry::file(name, 0)));
    }
    let metadata = if file_type.is_symlink() { fs::metadata(item.path()) } else { item.metadata() };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        // A link that leads nowhere, in circles, or through a file.
        Err(error) if file_type.is_symlink() && error.kind() != io::ErrorKind::PermissionDenied => {
            return Ok(Shown::Nothing);
        }
        // What is being made may get its name meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_temporary(&name) => return Ok(Shown::Nothing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Shown::Gone),
        Err(error) => return Err(error),
    };
    Ok(match kind(&metadata) {
        Some(EntryKind::File) => Shown::Entry(Entry::file(name, metadata.len())),
        Some(EntryKind::Folder) => Shown::Entry(Entry::folder(name)),
        None => Shown::Nothing,
    })
}

/// What is there; none of what is neither a file nor a folder.
pub(super) fn kind(metadata: &fs::Metadata) -> Option<EntryKind> {
    if metadata.is_file() { Some(EntryKind::File) } else { metadata.is_dir().then_some(EntryKind::Folder) }
}

//! Consistent listings of a folder.
//!
//! The operating system returns names in chunks, and sizes individually. A writer replaces a file
//! by creating the new file and then removing the old file. A concurrent listing may miss both and
//! is therefore repeated.

use std::fs;
use std::io;
use std::path::Path;

use crate::temporary::is_temporary;
use crate::{Entry, EntryKind};

/// Minimum number of names that the operating system returns per chunk, even if all names have the
/// maximum length.
const ONE_PIECE: usize = 100;
/// Maximum number of rejected listings of a changing folder. The next listing is accepted without a
/// check, and fails only if files vanish meanwhile.
const ATTEMPTS: usize = 100;

/// Lists a folder in arbitrary order. Without `sizes`, the sizes of files are unspecified.
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
        None => Err(io::Error::other("files disappear faster than the folder can be listed")),
    }
}

/// Returns the modification time of a folder, if available.
fn changed(folder: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}

/// Reads the entries. Returns `None` if an entry was removed after its name was read.
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

/// The outcome for a directory entry.
enum Shown {
    Entry(Entry),
    Nothing,
    Gone,
}

fn entry(item: &fs::DirEntry, sizes: bool) -> io::Result<Shown> {
    let Ok(name) = item.file_name().into_string() else { return Ok(Shown::Nothing) };
    let file_type = item.file_type()?;
    if file_type.is_dir() {
        // The folder itself is not accessed, because its size is meaningless and arrays may have
        // many fragments.
        return Ok(Shown::Entry(Entry::folder(name)));
    }
    if !sizes && file_type.is_file() {
        return Ok(Shown::Entry(Entry::file(name, 0)));
    }
    let metadata = if file_type.is_symlink() { fs::metadata(item.path()) } else { item.metadata() };
    let metadata = match metadata {
        Ok(metadata) => metadata,
        // A dangling link, a cycle of links, or a link through a file.
        Err(error) if file_type.is_symlink() && error.kind() != io::ErrorKind::PermissionDenied => {
            return Ok(Shown::Nothing);
        }
        // A temporary file may be renamed meanwhile.
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

/// Returns the kind of a path, or `None` for special files.
pub(super) fn kind(metadata: &fs::Metadata) -> Option<EntryKind> {
    if metadata.is_file() { Some(EntryKind::File) } else { metadata.is_dir().then_some(EntryKind::Folder) }
}

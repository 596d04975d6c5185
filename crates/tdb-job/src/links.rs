//! Symbolic links and unlisted entries in the folder of an array or group.
//!
//! The target of a link may belong to another user or array. No job deletes files behind a link.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tdb_storage::{Storage, StorageError};

use crate::error::Result;

/// Returns the first symbolic link on these paths, relative to the storage. Returns `None` if the
/// paths contain no link, or if the storage is not local. A path that cannot be examined counts as
/// no link.
pub fn link_on<'a>(storage: &dyn Storage, paths: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut links = Links::of(storage);
    paths.into_iter().find_map(|path| links.on(path))
}

/// Symbolic links in a local storage. Each folder is checked once.
struct Links<'a> {
    /// Folder of the storage, without links. `None` if the storage is not local.
    root: Option<PathBuf>,
    /// Paths that are known not to be links.
    folders: HashSet<&'a str>,
}

impl<'a> Links<'a> {
    fn of(storage: &dyn Storage) -> Self {
        let place = |uri: String| Some(PathBuf::from(format!("{}/", uri.strip_prefix("file://")?)));
        Self { root: storage.uri("").and_then(place), folders: HashSet::new() }
    }

    /// Returns the first symbolic link on a path, relative to the storage. Returns `None` if the
    /// path contains no link, or if the storage is not local.
    fn on(&mut self, path: &'a str) -> Option<String> {
        let root = self.root.as_ref()?;
        let ends = path.match_indices('/').map(|(end, _)| end).chain(std::iter::once(path.len()));
        for part in ends.map(|end| &path[..end]).filter(|part| !part.is_empty()) {
            if self.folders.contains(part) {
                continue;
            }
            match fs::symlink_metadata(root.join(part)) {
                Ok(metadata) if metadata.is_symlink() => return Some(part.to_owned()),
                // Neither missing paths nor paths that cannot be examined count as links.
                Ok(_) | Err(_) => self.folders.insert(part),
            };
        }
        None
    }
}

/// Returns `true` if a path is a symbolic link, even if the target of the link does not exist.
pub fn is_link(storage: &dyn Storage, path: &str) -> bool {
    let place = storage.uri(path).and_then(|uri| Some(fs::symlink_metadata(uri.strip_prefix("file://")?)));
    matches!(place, Some(Ok(metadata)) if metadata.is_symlink())
}

/// Returns an entry of a local folder that the storage does not list: an entry whose name is not
/// UTF-8, a dangling link, or a special file such as a pipe. A deletion of the folder would also
/// delete this entry. If `is_deep`, also searches subfolders. Returns `None` if the folder has no
/// such entry or is not local.
///
/// # Errors
/// An existing folder or the type of one of its entries cannot be read.
pub fn unlisted(storage: &dyn Storage, folder: &str, is_deep: bool) -> Result<Option<PathBuf>> {
    let uri = storage.uri(folder);
    match uri.as_deref().and_then(|uri| uri.strip_prefix("file://")) {
        Some(place) => unlisted_at(Path::new(place), is_deep),
        None => Ok(None),
    }
}

/// Returns an entry of the local folder `place` that a storage does not list. See [`unlisted`].
///
/// # Errors
/// An existing folder or the type of one of its entries cannot be read.
pub fn unlisted_at(place: &Path, is_deep: bool) -> Result<Option<PathBuf>> {
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| StorageError::from_io(folder.display().to_string(), error);
        let entries = match fs::read_dir(&folder) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            other => other.map_err(failed)?,
        };
        for item in entries {
            let item = item.map_err(failed)?;
            let kind = item.file_type().map_err(failed)?;
            let leads_somewhere = || fs::metadata(item.path()).is_ok_and(|there| there.is_file() || there.is_dir());
            let is_shown = kind.is_file() || kind.is_dir() || kind.is_symlink() && leads_somewhere();
            if !is_shown || item.file_name().to_str().is_none() {
                return Ok(Some(item.path()));
            }
            if is_deep && kind.is_dir() {
                folders.push(item.path());
            }
        }
    }
    Ok(None)
}

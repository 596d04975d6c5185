//! Local paths: parent folders and file systems.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{Group, MemberKind, MemberPlace};
use tdb_storage::{LocalStorage, Storage, StorageError};

use tdb_job::PlaceProblem;
use tdb_job::kind_of;
use tdb_job::{MaintainError, Result};

/// Returns the canonical path of the parent folder, and the file name.
pub(super) fn place(path: &Path) -> Result<(PathBuf, String)> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name else {
        return Err(MaintainError::Place { path: path.display().to_string(), why: PlaceProblem::NoName });
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let found = std::fs::canonicalize(parent).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            MaintainError::Place { path: parent.display().to_string(), why: PlaceProblem::NoFolder }
        }
        _ => StorageError::from_io(parent.display().to_string(), error).into(),
    })?;
    Ok((found, name.to_owned()))
}

/// Checks that a path is not inside of an array, at any depth. The search ends at `source`: a
/// destination inside of the source is rejected elsewhere.
pub fn check_not_in_array(path: &Path, source: Option<&Path>) -> Result<()> {
    let (parent, _) = place(path)?;
    let source = source.and_then(|source| std::fs::canonicalize(source).ok());
    for folder in parent.ancestors().take_while(|folder| source.as_deref() != Some(*folder)) {
        // An unreadable folder is ignored.
        if kind_of(&(Arc::new(LocalStorage::new(folder)) as _)).is_ok_and(|kind| kind == MemberKind::Array) {
            return Err(MaintainError::Place { path: path.display().to_string(), why: PlaceProblem::InArray });
        }
    }
    Ok(())
}

/// Returns the parent folder as a storage, and the file name.
pub fn named(path: &Path) -> Result<(Arc<dyn Storage>, String)> {
    let (parent, name) = place(path)?;
    Ok((Arc::new(LocalStorage::new(parent)), name))
}

/// Returns the parent folder of a local path as a storage, and the file name. Used for copies and
/// moves between local folders and object stores.
///
/// # Errors
/// - [`MaintainError::Place`] if the path has no UTF-8 file name, or the parent folder does not
///   exist or is inside of an array.
/// - [`MaintainError::Storage`] if the path of the parent folder cannot be resolved.
pub fn place_in(path: &Path) -> Result<(Arc<dyn Storage>, String)> {
    check_not_in_array(path, Some(path))?;
    named(path)
}

/// Returns the paths of groups in parent folders that have a member at `parent/name`. Skips
/// unreadable and legacy groups.
pub(super) fn holders(parent: &Path, name: &str) -> Vec<String> {
    let place = parent.join(name);
    let mut holders = Vec::new();
    for folder in parent.ancestors() {
        // An unreadable folder is skipped.
        let Ok(group) = Group::open(folder) else { continue };
        let Some(below) = place.strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
        let is_it = |place: &MemberPlace| *place == MemberPlace::Inside(below.to_owned());
        if !group.is_legacy() && group.members().iter().any(|member| is_it(&member.place)) {
            holders.push(folder.display().to_string());
        }
    }
    holders
}

/// Returns `true` if two folders are on the same file system, where a rename is atomic.
#[cfg(unix)]
pub(super) fn is_one_disk(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    device(a).is_some() && device(a) == device(b)
}

/// Returns `true` if two folders have the same drive letter.
#[cfg(not(unix))]
pub(super) fn is_one_disk(a: &Path, b: &Path) -> bool {
    a.components().next() == b.components().next()
}

/// Returns the storage of the deepest common folder, and both paths in it. Returns `None` if there
/// is no common folder or a path is not UTF-8.
pub(super) fn common(a: &Path, b: &Path) -> Option<(Arc<dyn Storage>, String, String)> {
    let root = a.ancestors().find(|folder| b.starts_with(folder))?;
    let below = |path: &Path| {
        let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    };
    Some((Arc::new(LocalStorage::new(root)), below(a)?, below(b)?))
}

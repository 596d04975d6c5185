//! Folders of this machine: what lies above them, and where.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{Group, MemberKind, MemberPlace};
use tdb_storage::{LocalStorage, Storage, StorageError};

use tdb_job::PlaceProblem;
use tdb_job::kind_of;
use tdb_job::{MaintainError, Result};

/// The folder that a path lies in, without links, and its name there.
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

/// Checks that something may lie at a path: arrays hold nothing but what is theirs, however deep. Whether it would lie in what
/// goes there is asked elsewhere.
pub fn check_not_in_array(path: &Path, source: Option<&Path>) -> Result<()> {
    let (parent, _) = place(path)?;
    let source = source.and_then(|source| std::fs::canonicalize(source).ok());
    for folder in parent.ancestors().take_while(|folder| source.as_deref() != Some(*folder)) {
        // A folder that may not be listed says nothing.
        if kind_of(&(Arc::new(LocalStorage::new(folder)) as _)).is_ok_and(|kind| kind == MemberKind::Array) {
            return Err(MaintainError::Place { path: path.display().to_string(), why: PlaceProblem::InArray });
        }
    }
    Ok(())
}

/// The same as a storage.
pub fn named(path: &Path) -> Result<(Arc<dyn Storage>, String)> {
    let (parent, name) = place(path)?;
    Ok((Arc::new(LocalStorage::new(parent)), name))
}

/// The folder that a path of this machine lies in, as a storage, and its name there: for something that is to lie there beside
/// stores.
///
/// # Errors
/// [`MaintainError::Place`]: there is no such folder, or it lies in an array.
pub fn place_in(path: &Path) -> Result<(Arc<dyn Storage>, String)> {
    check_not_in_array(path, Some(path))?;
    named(path)
}

/// The groups in whose folders a place lies and that have it as a member.
pub(super) fn holders(parent: &Path, name: &str) -> Vec<String> {
    let place = parent.join(name);
    let mut holders = Vec::new();
    for folder in parent.ancestors() {
        // What can't be read holds nothing that could be told.
        let Ok(group) = Group::open(folder) else { continue };
        let Some(below) = place.strip_prefix(folder).ok().and_then(Path::to_str) else { continue };
        let is_it = |place: &MemberPlace| *place == MemberPlace::Inside(below.to_owned());
        if !group.is_legacy() && group.members().iter().any(|member| is_it(&member.place)) {
            holders.push(folder.display().to_string());
        }
    }
    holders
}

/// Whether two folders lie on one file system, so that things move between them at once.
#[cfg(unix)]
pub(super) fn is_one_disk(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev()).ok();
    device(a).is_some() && device(a) == device(b)
}

/// Drives have letters there.
#[cfg(not(unix))]
pub(super) fn is_one_disk(a: &Path, b: &Path) -> bool {
    a.components().next() == b.components().next()
}

/// The storage of the deepest folder that holds both, and their paths in it.
pub(super) fn common(a: &Path, b: &Path) -> Option<(Arc<dyn Storage>, String, String)> {
    let root = a.ancestors().find(|folder| b.starts_with(folder))?;
    let below = |path: &Path| {
        let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    };
    Some((Arc::new(LocalStorage::new(root)), below(a)?, below(b)?))
}

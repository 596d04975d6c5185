//! Recursive listings.

use std::collections::BTreeMap;

use tdb_storage::{EntryKind, MANIFEST_NAME, Storage, is_temporary};

use tdb_job::PlaceProblem;
use tdb_job::{DEEPEST, list};
use tdb_job::{MaintainError, Result};
use tdb_verify::QUARANTINE;

/// Sizes of files, and `None` for folders, by path.
pub type Tree = BTreeMap<String, Option<u64>>;

/// Lists a folder recursively. Leaves out manifests, temporary and quarantined files, and returns
/// their paths.
pub fn walk(storage: &dyn Storage) -> Result<(Tree, Vec<String>)> {
    walk_with(storage, false)
}

/// Returns `true` if a path is the quarantine folder or inside of it.
pub(super) fn is_quarantined(path: &str) -> bool {
    path.split('/').any(|part| part == QUARANTINE)
}

/// Lists a folder recursively, optionally with all quarantined files.
pub(super) fn walk_with(storage: &dyn Storage, with_quarantine: bool) -> Result<(Tree, Vec<String>)> {
    let (mut tree, mut left) = (Tree::new(), Vec::new());
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEEPEST {
            return Err(MaintainError::Place { path: storage.describe(&folder), why: PlaceProblem::TooDeep });
        }
        for entry in list(storage, &folder)? {
            let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            match entry.kind {
                _ if is_quarantined(&path) && !with_quarantine => left.push(path),
                _ if is_temporary(&entry.name) && !is_quarantined(&path) => left.push(path),
                // The manifest of the source does not match the copy.
                EntryKind::File if entry.name == MANIFEST_NAME && !is_quarantined(&path) => left.push(path),
                EntryKind::File => {
                    tree.insert(path, Some(entry.size));
                }
                EntryKind::Folder => {
                    tree.insert(path.clone(), None);
                    folders.push((path, depth + 1));
                }
            }
        }
    }
    Ok((tree, left))
}

//! All that lies in a folder.

use std::collections::BTreeMap;

use tdb_storage::{EntryKind, Storage, is_temporary};

use tdb_job::PlaceProblem;
use tdb_job::{DEEPEST, list};
use tdb_job::{MaintainError, Result};
use tdb_verify::ASIDE;

/// The files of a folder and of the folders below it with their sizes, and the folders without one, by their paths.
pub type Tree = BTreeMap<String, Option<u64>>;

/// All but temporary files and what was set aside. With the paths of those that are left out.
pub fn walk(storage: &dyn Storage) -> Result<(Tree, Vec<String>)> {
    walk_with(storage, false)
}

/// Whether a path is of what was set aside, or leads there.
pub(super) fn is_aside(path: &str) -> bool {
    path.split('/').any(|part| part == ASIDE)
}

/// The same, also of what was set aside, if that is wanted: all of it, whatever it is called.
pub(super) fn walk_with(storage: &dyn Storage, has_aside: bool) -> Result<(Tree, Vec<String>)> {
    let (mut tree, mut left) = (Tree::new(), Vec::new());
    let mut folders = vec![(String::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEEPEST {
            return Err(MaintainError::Place { path: storage.describe(&folder), why: PlaceProblem::TooDeep });
        }
        for entry in list(storage, &folder)? {
            let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
            match entry.kind {
                _ if is_aside(&path) && !has_aside => left.push(path),
                _ if is_temporary(&entry.name) && !is_aside(&path) => left.push(path),
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

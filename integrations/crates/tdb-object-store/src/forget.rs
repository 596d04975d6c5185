//! Removal of listed but empty folders.
//!
//! Some stores, for example SeaweedFS, keep files in a file system, and list empty folders. An
//! array without files would still look like an array. On these stores, deleting the name of an
//! empty folder like a file removes the folder.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::folder::{kind_of, list};
use crate::place::Place;

/// Removes the emptied folders of deleted `files`, and the folder `removed`. Checks once if the
/// store lists empty folders.
pub(crate) async fn forget_folder(place: &Arc<Place>, path: &str, removed: &Path, files: &[Path]) {
    if !place.emptied.is_known() {
        // Web servers have real folders, and delete them recursively.
        if place.url.starts_with("http") {
            return;
        }
        let Ok(listed) = list(place, path, removed).await else { return };
        place.emptied.learn(removed, &listed);
    }
    let mut folders = folders_of(&place.root, files);
    folders.insert(removed.as_ref().to_owned());
    forget(place, folders).await;
}

/// Removes the emptied folders of a deleted file, on stores known to list them.
pub(crate) async fn forget_parents(place: &Arc<Place>, file: &Path) {
    forget(place, folders_of(&place.root, std::slice::from_ref(file))).await;
}

/// Deletes folder names, innermost first. The store keeps folders that are not empty. Ignores
/// errors, because the files are already deleted.
async fn forget(place: &Arc<Place>, folders: BTreeSet<String>) {
    if !place.emptied.are_listed() {
        return;
    }
    let at_once = place.options.profile.in_flight.max(1);
    // A file may have the same name as the folder, and the folder may contain new files.
    let free = stream::iter(folders).map(async |folder| {
        let name = Path::parse(&folder).ok()?;
        matches!(kind_of(place.clone(), folder, name.clone()).await, Ok(None)).then_some(name)
    });
    let free: Vec<Path> = free.buffer_unordered(at_once).filter_map(async |folder| folder).collect().await;
    let deepest = free.iter().map(depth).max().unwrap_or(0);
    for level in (1..=deepest).rev() {
        let names: Vec<_> = free.iter().filter(|folder| depth(folder) == level).cloned().map(Ok).collect();
        if !names.is_empty() {
            place.store.delete_stream(stream::iter(names).boxed()).for_each(async |_| {}).await;
        }
    }
}

fn depth(folder: &Path) -> usize {
    folder.parts().count()
}

/// Returns all folders between the root and the files.
fn folders_of(root: &str, files: &[Path]) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for file in files {
        let mut below = file.as_ref();
        while let Some((folder, _)) = below.rsplit_once('/') {
            if folder.len() <= root.len() || !folders.insert(folder.to_owned()) {
                break;
            }
            below = folder;
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_end_at_the_root() {
        let files = ["a/b/c/d/1", "a/b/c/2", "a/b/3"].map(Path::from);
        let folders = |root| folders_of(root, &files).into_iter().collect::<Vec<_>>();
        assert_eq!(folders("a/b"), ["a/b/c", "a/b/c/d"]);
        assert_eq!(folders(""), ["a", "a/b", "a/b/c", "a/b/c/d"]);
    }
}

//! Folders that a store still lists when nothing is in them any more.
//!
//! Stores have no folders, but some keep their files in those of a file system, as SeaweedFS does, and list what is left of these: an
//! array whose files have all gone would still look like one. There such a folder goes when its name is deleted like that of a file,
//! as long as nothing is in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use object_store::ObjectStore;
use object_store::path::Path;

use crate::folder::{kind_of, list};
use crate::place::Place;

/// Has the store forget the folders that files were in, which have been removed, and the folder `removed` itself. A store that lists
/// no such folders is asked once whether it does.
pub(crate) async fn forget_folder(place: &Arc<Place>, path: &str, removed: &Path, files: &[Path]) {
    if !place.emptied.is_known() {
        // Servers of the web have folders, and delete all that is in one with it.
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

/// The same of a file that was removed, of stores that are known to list such folders.
pub(crate) async fn forget_parents(place: &Arc<Place>, file: &Path) {
    forget(place, folders_of(&place.root, std::slice::from_ref(file))).await;
}

/// Deletes the names of folders, those within others first. A store that has something in one keeps it, and what goes wrong leaves no
/// more than was there before.
async fn forget(place: &Arc<Place>, folders: BTreeSet<String>) {
    if !place.emptied.are_listed() {
        return;
    }
    let at_once = place.options.profile.in_flight.max(1);
    // A file may have the name that a folder has, and somebody may have put something into it.
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

/// All folders below the root that files lie in.
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

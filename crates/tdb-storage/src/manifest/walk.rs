//! Lists of the files of a storage.

use super::list::{MANIFEST_NAME, Manifest, ManifestEntry};
use crate::path::{check_path, join};
use crate::storage::DEPTH;
use crate::temporary::TEMPORARY_PREFIX;
use crate::{Entry, EntryKind, Result, Storage, StorageError, at_once};

impl Manifest {
    /// Lists all files of a storage. Takes one listing for each folder.
    ///
    /// Omits names rejected by [`check_path`](crate::check_path), because no storage opens such files.
    ///
    /// # Errors
    /// The errors of [`Storage::list`], and [`BadPath`](StorageError::BadPath) if symbolic links
    /// form a cycle. [`NotFound`](StorageError::NotFound) also reports a folder removed
    /// meanwhile.
    pub fn of(storage: &dyn Storage) -> Result<Self> {
        let mut entries = Vec::new();
        let mut level = vec![String::new()];
        let mut depth = 0;
        while !level.is_empty() {
            if depth > DEPTH {
                let why = "folders are nested too deeply; check for links that form a cycle";
                let path = level.first().map(|folder| storage.describe(folder)).unwrap_or_default();
                return Err(StorageError::BadPath { path, why });
            }
            let listed = at_once(storage.profile().in_flight, &level, |folder| storage.list(folder));
            let mut next = Vec::new();
            for (folder, listed) in level.iter().zip(listed) {
                let mut is_empty = true;
                for entry in listed?.into_iter().filter(is_listed) {
                    is_empty = false;
                    let path = join(folder, &entry.name);
                    match entry.kind {
                        EntryKind::File => entries.push(ManifestEntry { path, size: entry.size }),
                        EntryKind::Folder => next.push(path),
                    }
                }
                if is_empty && !folder.is_empty() {
                    entries.push(ManifestEntry { path: format!("{folder}/"), size: 0 });
                }
            }
            (level, depth) = (next, depth + 1);
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { entries })
    }
}

/// Returns `true` if a manifest lists the entry of a folder.
fn is_listed(entry: &Entry) -> bool {
    let is_manifest = entry.kind == EntryKind::File && entry.name == MANIFEST_NAME;
    !is_manifest && !entry.name.starts_with(TEMPORARY_PREFIX) && check_path(&entry.name).is_ok()
}

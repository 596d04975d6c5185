//! Lists of the files of a storage.

use std::io;

use super::list::{MANIFEST_NAME, Manifest, ManifestEntry};
use crate::path::{check_path, join};
use crate::storage::DEPTH;
use crate::temporary::TEMPORARY_PREFIX;
use crate::{Entry, EntryKind, Result, Storage, StorageError, at_once};

/// Maximum number of folders. Links to folders multiply the paths: with two links to the same
/// folder at each of 40 levels, a walk has 2^40 paths. The files of so many fragments exceed
/// [`Manifest::LIMIT`].
const FOLDERS: usize = 1 << 17;
/// Maximum number of bytes in a line of a manifest, except for the path.
const SIZE: usize = "18446744073709551615 \n".len();
/// Number of folders listed before a check of the limits.
const STEP: usize = 1 << 10;
/// Maximum number of listings of a folder during concurrent writes.
const ROUNDS: usize = 20;

impl Manifest {
    /// Lists all files of a storage. Takes one listing for each folder.
    ///
    /// Omits names rejected by [`check_path`](crate::check_path), because no storage opens such files.
    ///
    /// # Errors
    /// The errors of [`Storage::list`], and [`BadPath`](StorageError::BadPath) if symbolic links
    /// form a cycle, or if the lines of all files and folders could exceed [`LIMIT`](Self::LIMIT).
    /// [`NotFound`](StorageError::NotFound) also reports a folder removed meanwhile.
    pub fn of(storage: &dyn Storage) -> Result<Self> {
        let bad = |folder: &str, why| Err(StorageError::BadPath { path: storage.describe(folder), why });
        let mut entries = Vec::new();
        let mut level = vec![String::new()];
        let (mut depth, mut folders, mut bytes) = (0, 1, 0);
        while let Some(first) = level.first() {
            if depth > DEPTH {
                return bad(first, "folders are nested too deeply; check for links that form a cycle");
            }
            let mut next = Vec::new();
            for step in level.chunks(STEP) {
                let listed = at_once(storage.profile().in_flight, step, |folder| storage.list(folder));
                for (folder, listed) in step.iter().zip(listed) {
                    let mut is_empty = true;
                    for entry in listed?.into_iter().filter(is_listed) {
                        is_empty = false;
                        let path = join(folder, &entry.name);
                        bytes += (path.len() + SIZE) as u64;
                        match entry.kind {
                            EntryKind::File => entries.push(ManifestEntry { path, size: entry.size }),
                            EntryKind::Folder => next.push(path),
                        }
                    }
                    if is_empty && !folder.is_empty() {
                        entries.push(ManifestEntry { path: format!("{folder}/"), size: 0 });
                    }
                    if folders + next.len() > FOLDERS || bytes > Self::LIMIT {
                        return bad(
                            folder,
                            "too many files and folders for a manifest; check for repeated links to a folder, \
                             or consolidate and vacuum",
                        );
                    }
                }
            }
            folders += next.len();
            (level, depth) = (next, depth + 1);
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { entries })
    }

    /// Lists all files of a storage like [`of`](Self::of), until two listings are equal. A
    /// concurrent writer may add or remove files between the listings of two folders.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), and [`Io`](StorageError::Io) if the files change faster than
    /// they can be listed.
    pub fn settled(storage: &dyn Storage) -> Result<Self> {
        let mut last = None;
        for _ in 0..ROUNDS {
            match Self::of(storage) {
                Ok(now) if last.as_ref() == Some(&now) => return Ok(now),
                Ok(now) => last = Some(now),
                // A folder was removed meanwhile.
                Err(error) if error.is_not_found() && storage.exists("")? => {}
                Err(error) => return Err(error),
            }
        }
        let error = io::Error::other("files change faster than they can be listed; try again after the writes");
        Err(StorageError::from_io(storage.describe(""), error))
    }
}

/// Returns `true` if a manifest lists the entry of a folder.
fn is_listed(entry: &Entry) -> bool {
    let is_manifest = entry.kind == EntryKind::File && entry.name == MANIFEST_NAME;
    !is_manifest && !entry.name.starts_with(TEMPORARY_PREFIX) && check_path(&entry.name).is_ok()
}

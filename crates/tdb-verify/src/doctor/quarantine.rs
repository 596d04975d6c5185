//! Moves files to quarantine and back, with a list of former paths.
//!
//! The quarantine folder is in the array or group, so that files stay on the same disk and move
//! together with the array. All releases ignore the folder, because its name starts with a dot and
//! has no underscore. The names of quarantined files never mark a folder as an array, group or
//! fragment.

use sha2::{Digest, Sha256};
use tdb_metadata::CommitKind;
use tdb_storage::{EntryKind, Storage, StorageError, check_path};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_METADATA, GROUP_FOLDER, file_name};

use super::outdated::is_outdated;
use tdb_job::{MaintainError, Result};

/// Name of the quarantine folder.
pub const QUARANTINE: &str = ".tdb-quarantine";
/// Name of the file in each quarantine folder that lists the former paths.
const TEXT: &str = "where-from.txt";
const TITLE: &str = "tdb doctor has moved these here; tdb doctor --undo moves them back, and so does mv.";
/// Maximum size of a list in bytes.
const TEXT_BYTES: u64 = 64 << 20;

/// An action that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// A file or folder moved to quarantine.
    Moved(String),
    /// A written file and its SHA-256. An undo keeps the file if its digest has changed.
    Wrote(String, String),
}

impl Deed {
    pub(super) fn wrote(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self::Wrote(path.into(), hash(bytes))
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The quarantine folder of one repair.
#[derive(Debug)]
pub(super) struct Quarantine<'s> {
    storage: &'s dyn Storage,
    folder: String,
    moved: usize,
}

impl<'s> Quarantine<'s> {
    /// Creates the folder and writes the list of planned actions.
    pub(super) fn begin(storage: &'s dyn Storage, deeds: &[Deed]) -> Result<Self> {
        let mut number = folders(storage)?.last().map_or(1, |last| last + 1);
        let mut text = format!("{TITLE}\n");
        let mut moved = 0;
        for deed in deeds {
            let line = match deed {
                Deed::Moved(path) => {
                    moved += 1;
                    format!("moved\t{}\t{path}\n", name(moved, path))
                }
                Deed::Wrote(path, hash) => format!("wrote\t{hash}\t{path}\n"),
            };
            text.push_str(&line);
        }
        loop {
            let folder = format!("{QUARANTINE}/{number}");
            storage.create_folder(&folder)?;
            match storage.create_new(&format!("{folder}/{TEXT}"), text.as_bytes()) {
                Ok(()) => return Ok(Self { storage, folder, moved: 0 }),
                // Another process has created the list.
                Err(StorageError::AlreadyExists { .. }) => number += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Moves the next planned file. Returns `false` if the file no longer exists.
    pub(super) fn take(&mut self, path: &str) -> Result<bool> {
        self.moved += 1;
        match self.storage.rename(path, &format!("{}/{}", self.folder, name(self.moved, path))) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() && !self.storage.exists(path)? => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn folder(&self) -> &str {
        &self.folder
    }
}

/// Returns the name of a file in quarantine. The number makes the name unique, and unknown to
/// readers.
fn name(number: usize, path: &str) -> String {
    format!("{number}-{}", file_name(path))
}

/// Returns the numbers of the quarantine folders, sorted.
fn folders(storage: &dyn Storage) -> Result<Vec<u64>> {
    let entries = match storage.list(QUARANTINE) {
        Err(StorageError::NotFound { .. }) => return Ok(Vec::new()),
        other => other?,
    };
    let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Folder);
    let mut numbers: Vec<u64> = folders.filter_map(|entry| entry.name.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Result of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// Paths of restored files.
    pub restored: Vec<String>,
    /// Paths of files that the doctor had written and the undo has deleted.
    pub removed: Vec<String>,
    /// Former paths of files that stay in quarantine, because a new file occupies the path.
    pub occupied: Vec<String>,
    /// Paths of commits and ignore files of missing fragments. They stay unchanged, because readers
    /// would fail after an undo.
    pub outdated: Vec<String>,
}

/// Undoes all repairs, last action first.
pub(super) fn undo(storage: &dyn Storage) -> Result<Restored> {
    let mut undone = Restored::default();
    for number in folders(storage)?.into_iter().rev() {
        let folder = format!("{QUARANTINE}/{number}");
        let text = format!("{folder}/{TEXT}");
        let bytes = match storage.read_up_to(&text, TEXT_BYTES) {
            // If the list is missing, no file was moved.
            Err(error) if error.is_not_found() => Vec::new(),
            other => other?,
        };
        for (deed, name) in parse(&bytes).ok_or_else(|| unknown(storage, &text))?.into_iter().rev() {
            undo_one(storage, &folder, deed, &name, &mut undone)?;
        }
        let left = storage.list(&folder)?;
        if left.iter().all(|entry| entry.name == TEXT) {
            storage.remove_folder(&folder)?;
        }
    }
    if storage.exists(QUARANTINE)? && storage.list(QUARANTINE)?.is_empty() {
        storage.remove_folder(QUARANTINE)?;
    }
    Ok(undone)
}

fn undo_one(storage: &dyn Storage, folder: &str, deed: Deed, name: &str, undone: &mut Restored) -> Result<()> {
    match deed {
        Deed::Wrote(path, hash_then) => match storage.read(&path) {
            Ok(bytes) if hash(&bytes) == hash_then => {
                if is_outdated(storage, &path, &bytes)? {
                    undone.outdated.push(path);
                } else {
                    storage.remove_file(&path)?;
                    undone.removed.push(path);
                }
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        },
        Deed::Moved(path) => {
            let from = format!("{folder}/{name}");
            let Some(kind) = storage.kind(&from)? else { return Ok(()) };
            if kind == EntryKind::File && is_outdated_file(storage, &from, &path)? {
                undone.outdated.push(path);
                return Ok(());
            }
            // The parent folder may be missing, for example after an interruption on a storage
            // without atomic moves.
            storage.create_folder(path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
            match storage.rename(&from, &path) {
                Ok(()) => undone.restored.push(path),
                Err(StorageError::AlreadyExists { .. }) => undone.occupied.push(path),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// Returns `true` if a quarantined file contains commits of missing fragments.
fn is_outdated_file(storage: &dyn Storage, from: &str, path: &str) -> Result<bool> {
    // It is harmless to restore other files, such as ignore files.
    if !matches!(CommitKind::of(path), Some(CommitKind::Consolidated | CommitKind::Write)) {
        return Ok(false);
    }
    is_outdated(storage, path, &storage.read_up_to(from, TEXT_BYTES)?)
}

/// Parses a list into actions and names in quarantine. Returns `None` if the list is invalid.
fn parse(bytes: &[u8]) -> Option<Vec<(Deed, String)>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if text.is_empty() {
        return Some(Vec::new());
    }
    let deed = |line: &str| {
        let mut parts = line.split('\t');
        let deed = match (parts.next()?, parts.next()?, parts.next()) {
            ("wrote", hash, Some(path)) if is_written_here(path) => {
                (Deed::Wrote(path.to_owned(), hash.to_owned()), String::new())
            }
            ("moved", name, Some(path)) if !name.contains('/') => (Deed::Moved(path.to_owned()), name.to_owned()),
            _ => return None,
        };
        let (Deed::Moved(path) | Deed::Wrote(path, _)) = &deed.0;
        // The doctor never writes an empty path or a path out of the array.
        (parts.next().is_none() && !path.is_empty() && check_path(path).is_ok()).then_some(deed)
    };
    text.strip_prefix(TITLE)?.strip_prefix('\n')?.lines().map(deed).collect()
}

/// Returns `true` if the doctor writes files of this kind: ignore files, files with members of a
/// group, and rebuilt fragment metadata. An undo deletes no files of other kinds.
fn is_written_here(path: &str) -> bool {
    match path.split_once('/') {
        _ if file_name(path) == FRAGMENT_METADATA => true,
        Some((COMMITS_FOLDER, name)) => !name.contains('/') && CommitKind::of(name) == Some(CommitKind::Ignore),
        Some((GROUP_FOLDER, name)) => !name.contains('/'),
        _ => false,
    }
}

fn unknown(storage: &dyn Storage, text: &str) -> MaintainError {
    let what = "invalid list of the former paths of quarantined files".to_owned();
    tdb_array::ArrayError::Corrupt { file: storage.describe(text), what }.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_storage::MemoryStorage;

    use super::*;

    #[test]
    fn quarantined_files_are_restored() {
        let storage = MemoryStorage::new();
        storage.insert("__commits/a.vac", *b"a").unwrap();
        storage.insert("__fragments/f/x.tdb", *b"x").unwrap();
        storage.insert("__commits/new.ign", *b"n").unwrap();
        let paths = ["__commits/a.vac", "gone", "__fragments/f"];
        let mut deeds: Vec<Deed> = paths.iter().map(|path| Deed::Moved((*path).to_owned())).collect();
        deeds.push(Deed::wrote("__commits/new.ign", b"n"));
        deeds.push(Deed::wrote("__commits/other.ign", b"n"));
        storage.insert("__commits/other.ign", *b"of somebody else").unwrap();
        let mut quarantine = Quarantine::begin(&storage, &deeds).unwrap();
        assert_eq!(paths.map(|path| quarantine.take(path).unwrap()), [true, false, true]);
        assert!(storage.exists(".tdb-quarantine/1/3-f/x.tdb").unwrap() && !storage.exists("__fragments/f").unwrap());
        // Another file occupies the path.
        storage.insert("__commits/a.vac", *b"b").unwrap();
        let undone = undo(&storage).unwrap();
        assert_eq!(undone.restored, ["__fragments/f"]);
        assert_eq!(
            (undone.removed, undone.occupied),
            (vec!["__commits/new.ign".to_owned()], vec![paths[0].to_owned()])
        );
        storage.remove_file("__commits/a.vac").unwrap();
        assert_eq!(undo(&storage).unwrap().restored, ["__commits/a.vac"]);
        assert!(!storage.exists(QUARANTINE).unwrap());
        assert_eq!(undo(&storage).unwrap(), Restored::default());
    }

    #[test]
    fn foreign_texts_move_nothing() {
        for line in [
            "moved\t1-a\t../a",
            "moved\t../../a\tb",
            "wrote\tx\t/etc/passwd",
            "moved\ta",
            "wrote\tx",
            "wrote\tx\t",
            "wrote\tx\t__schema/__1_1_a",
            "wrote\tx\t__commits/a.wrt",
            "wrote\tx\t__commits/b/a.ign",
            "moved\ta\tb\tc",
        ] {
            assert!(parse(format!("{TITLE}\n{line}\n").as_bytes()).is_none(), "{line}");
        }
        assert!(parse(b"something else").is_none());
        let storage = MemoryStorage::new();
        storage.insert(".tdb-quarantine/1/where-from.txt", *b"wrote\tx\t__schema\n").unwrap();
        assert!(matches!(undo(&storage), Err(MaintainError::Array(_))));
    }
}

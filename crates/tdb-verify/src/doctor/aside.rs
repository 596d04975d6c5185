//! Moving things aside, with a text that says where they came from, and moving them back.
//!
//! What is moved aside lies in a folder of the array or group itself, so that it stays on the same disk and goes along with it.
//! The folder's name begins with a dot and has no underscore: no release takes it for anything. Nothing in it has the name that
//! makes an array, a group or a fragment of a folder.

use sha2::{Digest, Sha256};
use tdb_metadata::CommitKind;
use tdb_storage::{EntryKind, Storage, StorageError, check_path};
use tdb_types::names::{COMMITS_FOLDER, FRAGMENT_METADATA, GROUP_FOLDER, file_name};

use super::outdated::is_outdated;
use tdb_job::{MaintainError, Result};

/// The folder of what was moved aside.
pub const ASIDE: &str = ".tdb-aside";
/// The text in each of its folders.
const TEXT: &str = "where-from.txt";
const TITLE: &str = "tdb doctor has moved these here; tdb doctor --undo moves them back, and so does mv.";
/// More than this no text of ours has.
const TEXT_BYTES: u64 = 64 << 20;

/// One thing that is done, and can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// The file or folder at a path is moved aside.
    Moved(String),
    /// A file is written, whose bytes have this SHA-256: what else has come to lie there isn't ours.
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

/// A folder for what is moved aside now.
#[derive(Debug)]
pub(super) struct Aside<'s> {
    storage: &'s dyn Storage,
    folder: String,
    moved: usize,
}

impl<'s> Aside<'s> {
    /// Makes the folder, and the text that says what is going to be done.
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
            let folder = format!("{ASIDE}/{number}");
            storage.create_folder(&folder)?;
            match storage.create_new(&format!("{folder}/{TEXT}"), text.as_bytes()) {
                Ok(()) => return Ok(Self { storage, folder, moved: 0 }),
                // Somebody else was faster.
                Err(StorageError::AlreadyExists { .. }) => number += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Moves the next of what was said to be moved. Whether it was still there.
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

/// What something is called aside. The number keeps it apart from others, and from names that mean something.
fn name(number: usize, path: &str) -> String {
    format!("{number}-{}", file_name(path))
}

/// The numbers of the folders of what was moved aside, in order.
fn folders(storage: &dyn Storage) -> Result<Vec<u64>> {
    let entries = match storage.list(ASIDE) {
        Err(StorageError::NotFound { .. }) => return Ok(Vec::new()),
        other => other?,
    };
    let folders = entries.iter().filter(|entry| entry.kind == EntryKind::Folder);
    let mut numbers: Vec<u64> = folders.filter_map(|entry| entry.name.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// What was moved back, or couldn't be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// The paths of what lies again where it lay.
    pub restored: Vec<String>,
    /// The paths of files that the doctor had written, and that are removed.
    pub removed: Vec<String>,
    /// Paths where something else lies by now: what lay there stays aside.
    pub occupied: Vec<String>,
    /// Paths of commits of fragments that are gone by now, on which readers would fail: what was moved aside stays there, and what
    /// was written to take such commits back stays where it is.
    pub outdated: Vec<String>,
}

/// Moves everything back, what was moved last first.
pub(super) fn undo(storage: &dyn Storage) -> Result<Undone> {
    let mut undone = Undone::default();
    for number in folders(storage)?.into_iter().rev() {
        let folder = format!("{ASIDE}/{number}");
        let text = format!("{folder}/{TEXT}");
        let bytes = match storage.read_up_to(&text, TEXT_BYTES) {
            // Nothing was moved before the text was there.
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
    if storage.exists(ASIDE)? && storage.list(ASIDE)?.is_empty() {
        storage.remove_folder(ASIDE)?;
    }
    Ok(undone)
}

fn undo_one(storage: &dyn Storage, folder: &str, deed: Deed, name: &str, undone: &mut Undone) -> Result<()> {
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
            // A storage that can't move at once may have been interrupted.
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

/// Whether a file that lies aside commits fragments that are gone by now.
fn is_outdated_file(storage: &dyn Storage, from: &str, path: &str) -> Result<bool> {
    // What takes commits back does no harm.
    if !matches!(CommitKind::of(path), Some(CommitKind::Consolidated | CommitKind::Write)) {
        return Ok(false);
    }
    is_outdated(storage, path, &storage.read_up_to(from, TEXT_BYTES)?)
}

/// What a text says, with the names of what was moved; none if it is none of ours.
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
        // A path that leads out of the array, or to nothing, is none that we wrote.
        (parts.next().is_none() && !path.is_empty() && check_path(path).is_ok()).then_some(deed)
    };
    text.strip_prefix(TITLE)?.strip_prefix('\n')?.lines().map(deed).collect()
}

/// Whether it is something that is written here: a list of commits that don't count, the members of a group, metadata of a
/// fragment that were made anew. Undoing removes nothing else.
fn is_written_here(path: &str) -> bool {
    match path.split_once('/') {
        _ if file_name(path) == FRAGMENT_METADATA => true,
        Some((COMMITS_FOLDER, name)) => !name.contains('/') && CommitKind::of(name) == Some(CommitKind::Ignore),
        Some((GROUP_FOLDER, name)) => !name.contains('/'),
        _ => false,
    }
}

fn unknown(storage: &dyn Storage, text: &str) -> MaintainError {
    let what = "it isn't the text that says where things lay before they were moved aside".to_owned();
    tdb_array::ArrayError::Corrupt { file: storage.describe(text), what }.into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_storage::MemoryStorage;

    use super::*;

    #[test]
    fn what_is_moved_aside_comes_back() {
        let storage = MemoryStorage::new();
        storage.insert("__commits/a.vac", *b"a").unwrap();
        storage.insert("__fragments/f/x.tdb", *b"x").unwrap();
        storage.insert("__commits/new.ign", *b"n").unwrap();
        let paths = ["__commits/a.vac", "gone", "__fragments/f"];
        let mut deeds: Vec<Deed> = paths.iter().map(|path| Deed::Moved((*path).to_owned())).collect();
        deeds.push(Deed::wrote("__commits/new.ign", b"n"));
        deeds.push(Deed::wrote("__commits/other.ign", b"n"));
        storage.insert("__commits/other.ign", *b"of somebody else").unwrap();
        let mut aside = Aside::begin(&storage, &deeds).unwrap();
        assert_eq!(paths.map(|path| aside.take(path).unwrap()), [true, false, true]);
        assert!(storage.exists(".tdb-aside/1/3-f/x.tdb").unwrap() && !storage.exists("__fragments/f").unwrap());
        // Something else has come to lie there.
        storage.insert("__commits/a.vac", *b"b").unwrap();
        let undone = undo(&storage).unwrap();
        assert_eq!(undone.restored, ["__fragments/f"]);
        assert_eq!(
            (undone.removed, undone.occupied),
            (vec!["__commits/new.ign".to_owned()], vec![paths[0].to_owned()])
        );
        storage.remove_file("__commits/a.vac").unwrap();
        assert_eq!(undo(&storage).unwrap().restored, ["__commits/a.vac"]);
        assert!(!storage.exists(ASIDE).unwrap());
        assert_eq!(undo(&storage).unwrap(), Undone::default());
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
        storage.insert(".tdb-aside/1/where-from.txt", *b"wrote\tx\t__schema\n").unwrap();
        assert!(matches!(undo(&storage), Err(MaintainError::Array(_))));
    }
}

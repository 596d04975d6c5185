//! Destination of a migration: a new folder, or the folder of the old array.
//!
//! The new array is written next to the destination under a hidden name, compared with the old
//! array, and renamed. An in-place migration needs two renames. A journal next to the array lets
//! the next run complete the renames or roll them back.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::CreateOptions;
use tdb_storage::{LocalStorage, Storage, StorageError};

use crate::migrate::{Migration, MigrationReport};
use tdb_job::PlaceProblem;
use tdb_job::lock::Lock;
use tdb_job::{MaintainError, Result};
use tdb_relocate::Remove;
use tdb_relocate::building::{REMOVED, Tree, check_not_in_array, staged, walk};

const TITLE: &str = "tdb journal of a migration 1\n";
/// Maximum length of a chain of symbolic links.
const LINKS: usize = 40;

/// Result of recovering an interrupted in-place migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InPlace {
    /// No migration was interrupted.
    Nothing,
    /// The new array is in place.
    Finished,
    /// The old array is in place.
    Restored,
}

/// Paths of a migration.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) place: PathBuf,
    parent: PathBuf,
    /// Temporary path of the new array.
    new: PathBuf,
    /// Path of the old array after the migration.
    old: PathBuf,
    journal: PathBuf,
}

impl Paths {
    pub(super) fn of(place: &Path) -> Result<Self> {
        let place = place.canonicalize().or_else(|_| behind_links(place))?;
        let none = || {
            failed(
                &place,
                &io::Error::new(ErrorKind::InvalidInput, "expected a path that ends in the name of a folder"),
            )
        };
        let name = place.file_name().ok_or_else(none)?;
        let parent = place.parent().ok_or_else(none)?.to_path_buf();
        let beside = |start: &str, end: &str| {
            let mut whole = OsString::from(start);
            whole.extend([name, OsStr::new(end)]);
            parent.join(whole)
        };
        Ok(Self {
            new: beside(".", ".tdb-migrating"),
            old: beside("", ".before-migration"),
            journal: beside(".", ".tdb-migration"),
            place: place.clone(),
            parent: parent.clone(),
        })
    }

    /// Returns `true` if a journal of this library exists.
    fn read_journal(&self) -> Result<bool> {
        match fs::read_to_string(&self.journal) {
            Ok(text) => Ok(text == TITLE),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&self.journal, &error)),
        }
    }
}

/// Follows a chain of dangling symbolic links to the missing target.
fn behind_links(place: &Path) -> Result<PathBuf> {
    let mut place = std::path::absolute(place).map_err(|error| failed(place, &error))?;
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&place) else { return Ok(place) };
        // A relative link target starts at the real parent folder.
        let parent = place.parent().map(Path::to_path_buf).unwrap_or_default();
        place = parent.canonicalize().unwrap_or(parent).join(target);
    }
    Err(failed(&place, &io::Error::new(ErrorKind::InvalidInput, "cycle of symbolic links")))
}

/// Returns `true` if an in-place migration of this folder is running or was interrupted. The folder
/// may be missing in the meantime. Also returns `false` if the journal cannot be read.
#[must_use]
pub fn is_interrupted(folder: &Path) -> bool {
    let journal = Paths::of(folder).and_then(|paths| paths.read_journal());
    journal.is_ok_and(|is_there| is_there)
}

impl Migration {
    /// Writes the new array into a new folder. The folder appears only when it is complete.
    ///
    /// # Errors
    /// The folder exists, another job has the same destination, reading or writing fails, or the
    /// new array differs from the old one. After an error, no incomplete array remains at the
    /// destination.
    pub fn into_folder(&self, folder: &Path, options: &CreateOptions) -> Result<MigrationReport> {
        into_folder(&Paths::of(folder)?, |storage| self.into_storage(storage, options))
    }

    /// Writes the new array into a new folder `name` of a storage. The folder appears only when it
    /// is complete.
    ///
    /// # Errors
    /// As for [`into_folder`](Self::into_folder).
    pub fn into_place(
        &self,
        parent: &Arc<dyn Storage>,
        name: &str,
        options: &CreateOptions,
    ) -> Result<MigrationReport> {
        staged(self.array.storage(), parent, name, false, |storage| self.into_storage(storage, options))
    }

    /// Writes the new array next to the old one and swaps the folders. Keeps the old array as
    /// `NAME.before-migration`, or [removes](tdb_relocate::Remove) it if `remove_old` is set. A
    /// removal keeps foreign files.
    ///
    /// Programs that have the array open should open the array again.
    ///
    /// # Errors
    /// - The errors of [`into_folder`](Self::into_folder), except that the folder exists.
    /// - [`MaintainError::Conflict`] if the array has changed since the plan.
    /// - [`MaintainError::Busy`] if another job holds a lock.
    /// - `NAME.before-migration` exists, or the old array cannot be removed.
    ///
    /// After an error before the swap, the old array is unchanged. If only the removal fails, the
    /// new array is in place. After an error during the swap, [`recover`] completes the swap or
    /// rolls it back.
    pub fn in_place(&self, folder: &Path, options: &CreateOptions, remove_old: bool) -> Result<MigrationReport> {
        let paths = Paths::of(folder)?;
        let locks = locks(&paths.place, "", self)?;
        let fill = |storage: &Arc<dyn Storage>| self.into_storage(storage, options);
        in_place(&paths, locks, remove_old, &self.tree, fill)
    }
}

/// Takes the locks of an array at `path` below a folder, and of the label arrays. Returns the locks
/// with paths.
pub(super) fn locks(root: &Path, path: &str, migration: &Migration) -> Result<Vec<(Lock, String)>> {
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(root));
    let join = |uri: &String| if path.is_empty() { uri.clone() } else { format!("{path}/{uri}") };
    let paths = std::iter::once(path.to_owned()).chain(migration.labels.keys().map(join));
    paths.map(|path| Ok((Lock::take(&storage.sub(&path)?, false)?, path))).collect()
}

/// Writes an array or group into a new folder.
pub(super) fn into_folder<T>(paths: &Paths, fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>) -> Result<T> {
    if fs::symlink_metadata(&paths.place).is_ok() {
        return Err(failed(&paths.place, &io::Error::from(ErrorKind::AlreadyExists)));
    }
    check_not_in_array(&paths.place, None)?;
    let (report, lock) = write_beside(paths, fill)?;
    drop(lock);
    let renamed = rename(&paths.new, &paths.place, &paths.parent);
    renamed.inspect_err(|_| remove(&paths.new))?;
    Ok(report)
}

/// Writes an array or group next to the old one and swaps the folders if the old folder is
/// unchanged since the plan. `locks` contains the locks of the old folder and of nested arrays and
/// groups, with their paths.
pub(super) fn in_place<T>(
    paths: &Paths,
    locks: Vec<(Lock, String)>,
    remove_old: bool,
    planned: &Tree,
    fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>,
) -> Result<T> {
    if remove_old {
        finish_removal(paths)?;
        // Reports obstacles to the removal before any change.
        let _ = Remove::new().recursive(true).plan_folder(&paths.place)?;
    }
    if fs::symlink_metadata(&paths.old).is_ok() {
        return Err(failed(&paths.old, &io::Error::from(ErrorKind::AlreadyExists)));
    }
    check_same(paths, &paths.place, planned)?;
    let (report, lock) = write_beside(paths, fill)?;
    drop(lock);
    let begun = check_same(paths, &paths.place, planned).and_then(|()| write_journal(paths));
    begun.inspect_err(|_| remove(&paths.new))?;
    rename(&paths.place, &paths.old, &paths.parent)?;
    // Other processes no longer find the array, so that this check detects every write.
    if let Err(error) = check_same(paths, &paths.old, planned) {
        rename(&paths.old, &paths.place, &paths.parent)?;
        remove(&paths.new);
        end_journal(paths)?;
        return Err(error);
    }
    rename(&paths.new, &paths.place, &paths.parent)?;
    // The lock files have moved with the folder.
    for (lock, path) in locks {
        drop(lock.moved(Arc::new(LocalStorage::new(paths.old.join(path)))));
    }
    end_journal(paths)?;
    if remove_old {
        Remove::new().recursive(true).plan_folder(&paths.old)?.run()?;
    }
    Ok(report)
}

/// Resumes an interrupted removal of an old array.
fn finish_removal(paths: &Paths) -> Result<()> {
    if paths.old.join(REMOVED).is_dir() {
        Remove::new().recursive(true).plan_folder(&paths.old)?.run()?;
    }
    Ok(())
}

/// Checks that a folder is unchanged since the plan.
fn check_same(paths: &Paths, folder: &Path, planned: &Tree) -> Result<()> {
    if walk(&LocalStorage::new(folder))?.0 == *planned {
        return Ok(());
    }
    let what = "written to while it was copied".to_owned();
    Err(MaintainError::Conflict { path: paths.place.display().to_string(), what })
}

fn write_beside<T>(paths: &Paths, fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>) -> Result<(T, Lock)> {
    // The target of a link may belong to someone else.
    if fs::symlink_metadata(&paths.new).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(MaintainError::Place { path: paths.new.display().to_string(), why: PlaceProblem::Link });
    }
    fs::create_dir_all(&paths.new).map_err(|error| failed(&paths.new, &error))?;
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(&paths.new));
    let lock = Lock::take(&storage, false)?;
    // Leftovers of an interrupted run.
    for entry in storage.list("")?.into_iter().filter(|entry| !tdb_storage::is_temporary(&entry.name)) {
        match entry.kind {
            tdb_storage::EntryKind::Folder => storage.remove_folder(&entry.name)?,
            _ => storage.remove_file(&entry.name)?,
        }
    }
    let report = fill(&storage).inspect_err(|_| remove(&paths.new))?;
    Ok((report, lock))
}

/// Completes or rolls back an interrupted in-place migration. Must run before the array is opened,
/// because the array may be missing.
///
/// # Errors
/// - [`MaintainError::Busy`] if the migration is still running.
/// - Reading the journal, or renaming or deleting a folder fails.
pub fn recover(folder: &Path) -> Result<InPlace> {
    let paths = Paths::of(folder)?;
    if !paths.read_journal()? {
        return Ok(InPlace::Nothing);
    }
    // A running migration holds the lock. The lock file moves with the old array.
    let holder = if paths.old.exists() { &paths.old } else { &paths.place };
    let lock = match holder.exists() {
        true => Some(Lock::take(&(Arc::new(LocalStorage::new(holder)) as _), false)?),
        false => None,
    };
    let outcome = match (paths.place.exists(), paths.new.exists()) {
        (true, true) => {
            fs::remove_dir_all(&paths.new).map_err(|error| failed(&paths.new, &error))?;
            InPlace::Restored
        }
        (true, false) => InPlace::Finished,
        (false, true) => {
            rename(&paths.new, &paths.place, &paths.parent)?;
            InPlace::Finished
        }
        (false, false) => {
            rename(&paths.old, &paths.place, &paths.parent)?;
            let lock = lock.map(|lock| lock.moved(Arc::new(LocalStorage::new(&paths.place))));
            end_journal(&paths)?;
            drop(lock);
            return Ok(InPlace::Restored);
        }
    };
    end_journal(&paths)?;
    drop(lock);
    Ok(outcome)
}

fn write_journal(paths: &Paths) -> Result<()> {
    let write = || -> io::Result<()> {
        let mut file = File::create_new(&paths.journal)?;
        file.write_all(TITLE.as_bytes())?;
        file.sync_all()?;
        sync(&paths.parent)
    };
    write().map_err(|error| failed(&paths.journal, &error))
}

fn end_journal(paths: &Paths) -> Result<()> {
    let remove = || -> io::Result<()> {
        fs::remove_file(&paths.journal)?;
        sync(&paths.parent)
    };
    remove().map_err(|error| failed(&paths.journal, &error))
}

fn rename(from: &Path, to: &Path, parent: &Path) -> Result<()> {
    let rename = || -> io::Result<()> {
        fs::rename(from, to)?;
        sync(parent)
    };
    rename().map_err(|error| failed(to, &error))
}

/// Makes the names in a folder durable, where supported.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Deletes a folder. Ignores errors, because another error is being reported.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

fn failed(path: &Path, error: &io::Error) -> MaintainError {
    let path = path.display().to_string();
    match error.kind() {
        ErrorKind::AlreadyExists => MaintainError::Storage(StorageError::AlreadyExists { path }),
        ErrorKind::NotFound => MaintainError::Storage(StorageError::NotFound { path }),
        _ => MaintainError::Folder { path, why: error.to_string() },
    }
}

//! Where the new array goes: into a folder of its own, or in place of the old one.
//!
//! It is written beside its place, under a hidden name, compared with the old one, and renamed when it is whole. To take the
//! place of the old one takes two renames; a journal beside them says what was about to be done, so that the next run
//! finishes it.

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
use tdb_relocate::building::{REMOVED, Tree, check, check_not_in_array, clear_unfinished, staged, walk};

const TITLE: &str = "tdb journal of a migration 1\n";
/// Links that lead to links, at most.
const LINKS: usize = 40;

/// What a run that was interrupted while it put the new array in place of the old one came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InPlace {
    /// There was none.
    Nothing,
    /// The new array is in place now.
    Finished,
    /// The old array is as it was.
    Undone,
}

/// The paths that a migration of an array needs.
#[derive(Debug)]
pub(super) struct Paths {
    pub(super) place: PathBuf,
    parent: PathBuf,
    /// The new array before it is in its place.
    new: PathBuf,
    /// The old one after.
    old: PathBuf,
    journal: PathBuf,
}

impl Paths {
    pub(super) fn of(place: &Path) -> Result<Self> {
        let place = match place.canonicalize() {
            Ok(place) => place,
            Err(_) => behind_links(place)?,
        };
        let none = || failed(&place, &io::Error::new(ErrorKind::InvalidInput, "a folder with a name is wanted"));
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

    /// Whether there is a journal of ours.
    fn read_journal(&self) -> Result<bool> {
        match fs::read_to_string(&self.journal) {
            Ok(text) => Ok(text == TITLE),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&self.journal, &error)),
        }
    }
}

/// The place of what isn't there, which may be where symbolic links lead.
fn behind_links(place: &Path) -> Result<PathBuf> {
    let mut place = std::path::absolute(place).map_err(|error| failed(place, &error))?;
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&place) else { return Ok(place) };
        // What it says is meant from the folder that it really lies in.
        let parent = place.parent().map(Path::to_path_buf).unwrap_or_default();
        place = parent.canonicalize().unwrap_or(parent).join(target);
    }
    Err(failed(&place, &io::Error::new(ErrorKind::InvalidInput, "symbolic links lead in a circle")))
}

/// Whether a migration in place of what lay here was interrupted, or goes on: there may be nothing here meanwhile.
#[must_use]
pub fn is_interrupted(folder: &Path) -> bool {
    let journal = Paths::of(folder).and_then(|paths| paths.read_journal());
    journal.is_ok_and(|is_there| is_there)
}

impl Migration {
    /// Writes the new array into a folder that isn't there yet; it is there when it is whole.
    ///
    /// # Errors
    /// Something is there; somebody else does the same; something can't be read or written, or the new array doesn't read as
    /// the old one. Nothing is then left of it.
    pub fn into_folder(&self, folder: &Path, options: &CreateOptions) -> Result<MigrationReport> {
        into_folder(&Paths::of(folder)?, |storage| self.into_storage(storage, options))
    }

    /// Writes the new array into the folder `name` of a storage, where nothing is yet; it is there when it is whole.
    ///
    /// # Errors
    /// As [`into_folder`](Self::into_folder).
    pub fn into_place(
        &self,
        parent: &Arc<dyn Storage>,
        name: &str,
        options: &CreateOptions,
    ) -> Result<MigrationReport> {
        check(self.array.storage(), parent, name)?;
        clear_unfinished(parent, name)?;
        staged(parent, name, false, |storage| self.into_storage(storage, options))
    }

    /// Writes the new array beside the folder of the old one, puts it in its place, and keeps the old one as
    /// `NAME.before-migration`, unless it is to be [removed](tdb_relocate::Remove): then what isn't of the format stays there. Whoever has the
    /// array open goes on with files that have changed their place, and had better open it again.
    ///
    /// # Errors
    /// As [`into_folder`](Self::into_folder); the array was changed meanwhile, or is maintained by somebody. It is then as it was.
    pub fn in_place(&self, folder: &Path, options: &CreateOptions, remove_old: bool) -> Result<MigrationReport> {
        let paths = Paths::of(folder)?;
        let locks = locks(&paths.place, "", self)?;
        let fill = |storage: &Arc<dyn Storage>| self.into_storage(storage, options);
        in_place(&paths, locks, remove_old, &self.tree, fill)
    }
}

/// The locks of an array that lies at `path` below a folder, and of those of its labels, with their paths.
pub(super) fn locks(root: &Path, path: &str, migration: &Migration) -> Result<Vec<(Lock, String)>> {
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(root));
    let join = |uri: &String| if path.is_empty() { uri.clone() } else { format!("{path}/{uri}") };
    let paths = std::iter::once(path.to_owned()).chain(migration.labels.keys().map(join));
    paths.map(|path| Ok((Lock::take(&storage.sub(&path)?, false)?, path))).collect()
}

/// Writes something new into a folder that isn't there yet.
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

/// Writes something new beside what is there, and puts it in its place, if all that lies there is still what was planned with.
/// The locks are those of what is there and of what lies in it, by their paths.
pub(super) fn in_place<T>(
    paths: &Paths,
    locks: Vec<(Lock, String)>,
    remove_old: bool,
    planned: &Tree,
    fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>,
) -> Result<T> {
    if remove_old {
        finish_removal(paths)?;
        // What somebody may still want is told before anything is done.
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
    // Nobody who looks for it finds it now: what came until then is there to be seen.
    if let Err(error) = check_same(paths, &paths.old, planned) {
        rename(&paths.old, &paths.place, &paths.parent)?;
        remove(&paths.new);
        end_journal(paths)?;
        return Err(error);
    }
    rename(&paths.new, &paths.place, &paths.parent)?;
    // Their files have moved along.
    for (lock, path) in locks {
        drop(lock.moved(Arc::new(LocalStorage::new(paths.old.join(path)))));
    }
    end_journal(paths)?;
    if remove_old {
        Remove::new().recursive(true).plan_folder(&paths.old)?.run()?;
    }
    Ok(report)
}

/// Goes on with the removal of an old array that an earlier run was interrupted at.
fn finish_removal(paths: &Paths) -> Result<()> {
    if paths.old.join(REMOVED).is_dir() {
        Remove::new().recursive(true).plan_folder(&paths.old)?.run()?;
    }
    Ok(())
}

/// Whether a folder holds what was planned with.
fn check_same(paths: &Paths, folder: &Path, planned: &Tree) -> Result<()> {
    if walk(&LocalStorage::new(folder))?.0 == *planned {
        return Ok(());
    }
    let what = "it was written to while it was copied".to_owned();
    Err(MaintainError::Conflict { path: paths.place.display().to_string(), what })
}

fn write_beside<T>(paths: &Paths, fill: impl FnOnce(&Arc<dyn Storage>) -> Result<T>) -> Result<(T, Lock)> {
    // What it leads to is somebody's own.
    if fs::symlink_metadata(&paths.new).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(MaintainError::Place { path: paths.new.display().to_string(), why: PlaceProblem::Link });
    }
    fs::create_dir_all(&paths.new).map_err(|error| failed(&paths.new, &error))?;
    let storage: Arc<dyn Storage> = Arc::new(LocalStorage::new(&paths.new));
    let lock = Lock::take(&storage, false)?;
    // What an interrupted run has left.
    for entry in storage.list("")?.into_iter().filter(|entry| !tdb_storage::is_temporary(&entry.name)) {
        match entry.kind {
            tdb_storage::EntryKind::Folder => storage.remove_folder(&entry.name)?,
            _ => storage.remove_file(&entry.name)?,
        }
    }
    match fill(&storage) {
        Ok(report) => Ok((report, lock)),
        Err(error) => {
            remove(&paths.new);
            Err(error)
        }
    }
}

/// Finishes or undoes what an interrupted migration in place of an array was about to do. To be asked before the array is
/// opened, which may not be there in between.
///
/// # Errors
/// [`MaintainError::Busy`]: it isn't interrupted, but goes on. Something can't be renamed or removed.
pub fn recover(folder: &Path) -> Result<InPlace> {
    let paths = Paths::of(folder)?;
    if !paths.read_journal()? {
        return Ok(InPlace::Nothing);
    }
    // Who is at it has the lock, which goes where the old array goes.
    let holder = if paths.old.exists() { &paths.old } else { &paths.place };
    let lock = match holder.exists() {
        true => Some(Lock::take(&(Arc::new(LocalStorage::new(holder)) as _), false)?),
        false => None,
    };
    let outcome = match (paths.place.exists(), paths.new.exists()) {
        (true, true) => {
            fs::remove_dir_all(&paths.new).map_err(|error| failed(&paths.new, &error))?;
            InPlace::Undone
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
            return Ok(InPlace::Undone);
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

/// Makes names in a folder durable, where the system can.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// As far as possible; the error to report is another.
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

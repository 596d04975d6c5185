//! The trait that everything above reads and writes through.

use std::fmt;
use std::sync::Arc;

use crate::path::{check_below_root, join, parent};
use crate::{
    CancelToken, Fetched, Part, ReadAt, ReadProfile, Request, Result, StorageError, WriteFile, at_once,
    forward_storage, read_range,
};

/// How many folders are removed at once where answers take long: each is many requests by itself.
const FOLDERS_AT_ONCE: usize = 8;

/// A tree of files and folders, rooted somewhere.
///
/// Paths are relative to the root and `/`-separated, checked by [`check_path`](crate::check_path); `""` is the root.
/// All methods may be called from many threads at once.
pub trait Storage: Send + Sync + fmt::Debug {
    /// The files and folders directly in `folder`, sorted by the bytes of their names.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound) if there is no such folder, [`NotAFolder`](StorageError::NotAFolder),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath), I/O.
    fn list(&self, folder: &str) -> Result<Vec<Entry>>;

    /// The names of the files and folders directly in `folder`, as [`list`](Self::list) has them, for those who want no sizes: a
    /// local disk need not be asked for each file then.
    ///
    /// # Errors
    /// As there.
    fn names(&self, folder: &str) -> Result<Vec<(String, EntryKind)>> {
        Ok(self.list(folder)?.into_iter().map(|entry| (entry.name, entry.kind)).collect())
    }

    /// Opens a file for positional reads. Keep the handle for many reads: opening costs a request or a system call.
    ///
    /// # Errors
    /// As [`list`](Self::list), but [`NotAFile`](StorageError::NotAFile) where a folder has the path.
    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>>;

    /// Opens a file whose size is known, as from a listing: a store has nothing to ask for then. What is said of the size
    /// may be believed or not.
    ///
    /// # Errors
    /// As [`open`](Self::open), or later, when bytes are read.
    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        let _ = size;
        self.open(path)
    }

    /// How this storage likes to be asked.
    fn profile(&self) -> ReadProfile {
        ReadProfile::LOCAL
    }

    /// Opens a file and reads from it. A store does both in one request.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`UnexpectedEnd`](StorageError::UnexpectedEnd), and those of limits.
    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        fetch_one(self, request)
    }

    /// Answers many requests, in their order: as many at once as the storage thinks best.
    ///
    /// # Errors
    /// For each request, those of [`fetch_one`](Self::fetch_one).
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        at_once(self.profile().in_flight, requests, |request| self.fetch_one(request))
    }

    /// Answers many requests, each as soon as its answer is there: `take` is given its place among them. Once nobody wants the answers any more,
    /// no more is asked for, what is on its way is given up where a storage can do that, and those that haven't come are never told.
    ///
    /// # Errors
    /// To `take`, for each request, those of [`fetch_one`](Self::fetch_one).
    fn fetch_each(&self, requests: &[Request], cancel: &CancelToken, take: &mut dyn FnMut(usize, Result<Fetched>)) {
        let at_once = self.profile().in_flight.max(1);
        for (group, requests) in requests.chunks(at_once).enumerate() {
            if cancel.is_cancelled() {
                return;
            }
            self.fetch(requests)
                .into_iter()
                .enumerate()
                .for_each(|(place, answer)| take(group * at_once + place, answer));
        }
    }

    /// What has this path; `None` if nothing has.
    ///
    /// # Errors
    /// Bad path, permission denied, I/O.
    fn kind(&self, path: &str) -> Result<Option<EntryKind>>;

    /// Bytes of the file at `path`, links followed; `None` if nothing is there, or no file.
    ///
    /// # Errors
    /// What there is can't be told.
    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        match self.open(path) {
            Ok(file) => Ok(Some(file.size())),
            Err(StorageError::NotFound { .. } | StorageError::NotAFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The storage rooted at `folder`, which need not exist yet.
    ///
    /// # Errors
    /// Bad path.
    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>>;

    /// The whole path as the user knows it, for messages. Any text may be asked for, even a path that is refused.
    fn describe(&self, path: &str) -> String;

    /// The absolute URI of a path, as some files of old formats name others by: none if nobody else could find it by one.
    ///
    /// ```
    /// use tdb_storage::{LocalStorage, MemoryStorage, Storage};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let uri = LocalStorage::new(folder.path()).uri("__meta/f").expect("a place on this machine");
    /// assert!(uri.starts_with("file:///") && uri.ends_with("/__meta/f"));
    /// assert_eq!(MemoryStorage::new().uri("f"), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn uri(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }

    /// Makes a folder and those above it that are missing; a folder that exists already is left as it is.
    ///
    /// # Errors
    /// [`NotAFolder`](StorageError::NotAFolder) if a file is in the way, bad path, permission denied, I/O.
    fn create_folder(&self, folder: &str) -> Result<()>;

    /// Makes a file that holds `bytes`, in a folder that exists. When this returns, the bytes and the name are durable:
    /// they survive a crash of the machine.
    ///
    /// The file is there whole or not at all, for everybody and at every moment. If this fails, no file is left. A crash in
    /// between may leave a file in the root of the storage that [`is_temporary`](crate::is_temporary).
    ///
    /// # Errors
    /// [`AlreadyExists`](StorageError::AlreadyExists): a file is never overwritten. [`NotFound`](StorageError::NotFound):
    /// there is no such folder. Bad path, permission denied, I/O.
    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()>;

    /// Makes a file to be written piece by piece, in a folder that exists. It is there at once, empty; what others see of
    /// it before [`WriteFile::finish`] is not specified.
    ///
    /// Its name is durable when [`sync_folder`](Self::sync_folder) has returned for its folder: one such call serves any
    /// number of files.
    ///
    /// # Errors
    /// As [`create_new`](Self::create_new).
    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>>;

    /// Makes the names of the files in a folder durable.
    ///
    /// # Errors
    /// Not found, not a folder, bad path, permission denied, I/O.
    fn sync_folder(&self, folder: &str) -> Result<()>;

    /// Deletes a file, durably.
    ///
    /// # Errors
    /// Not found, not a file, bad path, permission denied, I/O.
    fn remove_file(&self, path: &str) -> Result<()>;

    /// Deletes files, durably, in any order: of a crash, or an error, any of them may be left. A local disk makes what is gone of a
    /// folder durable once, and not for each file. Gives what came of each.
    ///
    /// ```
    /// use tdb_storage::{MemoryStorage, Storage};
    ///
    /// let storage = MemoryStorage::new();
    /// storage.insert("a/f", *b"bytes")?;
    /// let removed = storage.remove_files(&["a/f", "a/g"]);
    /// assert!(removed[0].is_ok() && removed[1].as_ref().is_err_and(|error| error.is_not_found()));
    /// # Ok::<(), tdb_storage::StorageError>(())
    /// ```
    fn remove_files(&self, paths: &[&str]) -> Vec<Result<()>> {
        let profile = self.profile();
        at_once(if profile.is_remote() { profile.in_flight } else { 1 }, paths, |path| self.remove_file(path))
    }

    /// Deletes a folder with all that it holds, durably. Symbolic links in it are deleted, not followed.
    ///
    /// # Errors
    /// Not found, not a folder, bad path (the root can't be deleted), permission denied, I/O; after an error a part may
    /// be gone.
    fn remove_folder(&self, folder: &str) -> Result<()>;

    /// Deletes folders with all that they hold, durably, in any order: of a crash, or an error, any of them may be left. A local disk makes
    /// what is gone of a folder durable once, as with [`remove_files`](Self::remove_files). Gives what came of each.
    fn remove_folders(&self, folders: &[&str]) -> Vec<Result<()>> {
        at_once(self.profile().in_flight.min(FOLDERS_AT_ONCE), folders, |folder| self.remove_folder(folder))
    }

    /// Gives a file, or a folder with all that it holds, another path, durably; the folder that it comes to lie in has to be
    /// there. Nothing is ever overwritten. A local disk does it at once; where a storage can't, it is copied as a whole before
    /// any of it goes, and a crash in between may leave both.
    ///
    /// ```
    /// use tdb_storage::{MemoryStorage, Storage};
    ///
    /// let storage = MemoryStorage::new();
    /// storage.insert("a/f", *b"bytes")?;
    /// storage.rename("a", "b")?;
    /// assert_eq!(storage.read("b/f")?, b"bytes");
    /// assert!(!storage.exists("a")?);
    /// # Ok::<(), tdb_storage::StorageError>(())
    /// ```
    ///
    /// # Errors
    /// [`AlreadyExists`](StorageError::AlreadyExists) if something has the new path; not found, bad path, permission denied,
    /// I/O.
    fn rename(&self, from: &str, to: &str) -> Result<()> {
        rename_by_copying(self, from, to)
    }

    /// The bytes of a whole file.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`TooLarge`](StorageError::TooLarge).
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_up_to(path, u64::MAX)
    }

    /// The bytes of a whole file that has no more than `limit` of them: a few bytes on disk can be a file of terabytes.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`OverLimit`](StorageError::OverLimit).
    fn read_up_to(&self, path: &str, limit: u64) -> Result<Vec<u8>> {
        Ok(self.fetch_one(&Request::all(path, limit))?.bytes)
    }

    /// Whether a file or folder has this path.
    ///
    /// # Errors
    /// As [`kind`](Self::kind).
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.kind(path)?.is_some())
    }
}

/// A file or folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Entry {
    /// Its name: one component of a path.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file; 0 for a folder.
    pub size: u64,
}

impl Entry {
    /// A file of so many bytes.
    #[must_use]
    pub fn file(name: impl Into<String>, size: u64) -> Self {
        Self { name: name.into(), kind: EntryKind::File, size }
    }

    /// A folder.
    #[must_use]
    pub fn folder(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: EntryKind::Folder, size: 0 }
    }
}

/// What an [`Entry`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// What points to a storage is one.
macro_rules! forward_all {
    () => {
        forward_storage!(|this| (**this) => list, names, open, open_sized, profile, fetch_one, fetch, fetch_each, kind, file_size, sub, describe, uri, create_folder, create_new,
            create_file, sync_folder, remove_file, remove_files, remove_folder, remove_folders, rename, read, read_up_to, exists);
    };
}

impl<S: Storage + ?Sized> Storage for Arc<S> {
    forward_all!();
}

impl<S: Storage + ?Sized> Storage for &S {
    forward_all!();
}

/// Answers a request by opening the file and reading from it.
pub(crate) fn fetch_one<S: Storage + ?Sized>(storage: &S, request: &Request) -> Result<Fetched> {
    let file = match &request.part {
        Part::Range { size, .. } => storage.open_sized(&request.path, *size)?,
        Part::All | Part::Last(_) => storage.open(&request.path)?,
    };
    let (start, bytes) = read_part(storage, &*file, request)?;
    Ok(Fetched { file, start, bytes, is_cached: false })
}

/// What a request asks for of an open file: where in it that begins, and its bytes.
pub(crate) fn read_part<S: Storage + ?Sized>(
    storage: &S,
    file: &dyn ReadAt,
    request: &Request,
) -> Result<(u64, Vec<u8>)> {
    let Request { path, part, limit } = request;
    let size = file.size();
    let range = match part {
        Part::All if size > *limit => {
            return Err(StorageError::OverLimit { path: storage.describe(path), size, limit: *limit });
        }
        Part::All => 0..size,
        Part::Last(len) => size.saturating_sub(*len)..size,
        Part::Range { range, .. } => range.clone(),
    };
    let bytes = read_range(file, range.clone(), *limit, || storage.describe(path))?;
    Ok((range.start, bytes))
}

/// So many bytes of a file are held at once.
const STEP: u64 = 1 << 20;

/// Folders in folders, at most: links may lead in circles.
const DEPTH: usize = 64;

/// Copies a file, piece by piece; gives its bytes. They are durable when this returns, and the name is when
/// [`Storage::sync_folder`] has returned for its folder. `passed` hears of every piece, and may say that it is enough.
///
/// ```
/// use tdb_storage::{MemoryStorage, Storage, copy_file};
///
/// let (from, to) = (MemoryStorage::new(), MemoryStorage::new());
/// from.create_new("f", b"0123")?;
/// assert_eq!(copy_file(&from, "f", &to, "g", &mut |_| Ok(()))?, 4);
/// assert_eq!(to.read("g")?, b"0123");
/// # Ok::<(), tdb_storage::StorageError>(())
/// ```
///
/// # Errors
/// The one can't be read, the other not be made: then it isn't there. Whatever `passed` says.
pub fn copy_file<E: From<StorageError>>(
    from: &(impl Storage + ?Sized),
    path: &str,
    to: &(impl Storage + ?Sized),
    copy: &str,
    passed: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<u64, E> {
    let file = from.open(path)?;
    let size = file.size();
    let mut writer = to.create_file(copy)?;
    let profile = from.profile();
    // Where answers take long, as much is asked for at once as costs no more.
    let step = if profile.is_remote() { profile.largest.clamp(STEP, 64 << 20) } else { STEP };
    for start in (0..size).step_by(step as usize) {
        let range = start..size.min(start + step);
        let bytes = read_range(&*file, range, step, || from.describe(path))?;
        writer.append(&bytes)?;
        passed(bytes.len() as u64)?;
    }
    writer.finish()?;
    Ok(size)
}

/// [`Storage::rename`] for those who can't do better: copies, and removes what was copied.
pub(crate) fn rename_by_copying<S: Storage + ?Sized>(storage: &S, from: &str, to: &str) -> Result<()> {
    check_below_root(from)?;
    check_below_root(to)?;
    if storage.exists(to)? {
        return Err(StorageError::AlreadyExists { path: storage.describe(to) });
    }
    match storage.kind(from)? {
        None => Err(StorageError::NotFound { path: storage.describe(from) }),
        Some(EntryKind::File) => {
            copy_file::<StorageError>(storage, from, storage, to, &mut |_| Ok(()))?;
            storage.sync_folder(parent(to).unwrap_or_default())?;
            storage.remove_file(from)
        }
        Some(EntryKind::Folder) => {
            copy_folder(storage, from, to, 0)?;
            storage.remove_folder(from)
        }
    }
}

fn copy_folder<S: Storage + ?Sized>(storage: &S, from: &str, to: &str, depth: usize) -> Result<()> {
    if depth > DEPTH {
        let why = "folders lie too deep in folders; a link may lead in a circle";
        return Err(StorageError::BadPath { path: storage.describe(from), why });
    }
    storage.create_folder(to)?;
    for entry in storage.list(from)? {
        let (from, to) = (join(from, &entry.name), join(to, &entry.name));
        match entry.kind {
            EntryKind::File => {
                copy_file::<StorageError>(storage, &from, storage, &to, &mut |_| Ok(()))?;
            }
            EntryKind::Folder => copy_folder(storage, &from, &to, depth + 1)?,
        }
    }
    storage.sync_folder(to)
}

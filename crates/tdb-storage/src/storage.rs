//! The trait for all reads and writes.

use std::fmt;
use std::sync::Arc;

use crate::path::{check_below_root, join, parent};
use crate::{
    CancelToken, Fetched, Part, ReadAt, ReadProfile, Request, Result, StorageError, WriteFile, at_once,
    forward_storage, read_range,
};

/// Maximum number of folders removed at once on a remote storage. Each folder takes many requests.
const FOLDERS_AT_ONCE: usize = 8;

/// A tree of files and folders.
///
/// Paths are relative to the root, with `/` as separator, and checked by
/// [`check_path`](crate::check_path). `""` is the root. All methods may be called concurrently.
pub trait Storage: Send + Sync + fmt::Debug {
    /// Lists the files and folders directly in `folder`, sorted bytewise by name.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound), [`NotAFolder`](StorageError::NotAFolder),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn list(&self, folder: &str) -> Result<Vec<Entry>>;

    /// Lists names and kinds like [`list`](Self::list), without sizes. On a local disk this saves a
    /// system call per file.
    ///
    /// # Errors
    /// The errors of [`list`](Self::list).
    fn names(&self, folder: &str) -> Result<Vec<(String, EntryKind)>> {
        Ok(self.list(folder)?.into_iter().map(|entry| (entry.name, entry.kind)).collect())
    }

    /// Opens a file for positional reads. Reuse the handle: opening costs a request or a system
    /// call.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound), [`NotAFile`](StorageError::NotAFile) if the path is a
    /// folder or a special file, [`PermissionDenied`](StorageError::PermissionDenied),
    /// [`BadPath`](StorageError::BadPath), and other I/O errors.
    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>>;

    /// Opens a file of known size, for example from a listing. An object store then sends no
    /// request. The implementation may ignore `size`.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open). A storage may delay them until bytes are read.
    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>> {
        let _ = size;
        self.open(path)
    }

    /// Returns the preferred read pattern of this storage.
    fn profile(&self) -> ReadProfile {
        ReadProfile::LOCAL
    }

    /// Opens a file and reads from it. An object store combines both in a single request.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), [`UnexpectedEnd`](StorageError::UnexpectedEnd),
    /// [`TooLarge`](StorageError::TooLarge), [`OverLimit`](StorageError::OverLimit), and
    /// [`RangeOverLimit`](StorageError::RangeOverLimit).
    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        fetch_one(self, request)
    }

    /// Answers many requests, as concurrently as the storage prefers. The answers have the order of
    /// the requests.
    ///
    /// # Errors
    /// Each answer has the errors of [`fetch_one`](Self::fetch_one).
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Fetched>> {
        at_once(self.profile().in_flight, requests, |request| self.fetch_one(request))
    }

    /// Answers many requests and passes each answer to `take`, with the index of the request.
    /// Answers are passed on arrival if the storage supports this, and otherwise in groups.
    ///
    /// After cancellation no further requests are issued. Requests in flight are aborted if the
    /// storage supports this. `take` is not called for requests without an answer.
    ///
    /// # Errors
    /// `take` receives the errors of [`fetch_one`](Self::fetch_one) for each request.
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

    /// Returns the kind of a path, following links. Returns `None` if the path does not exist or is
    /// a special file.
    ///
    /// # Errors
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn kind(&self, path: &str) -> Result<Option<EntryKind>>;

    /// Returns the size of a file in bytes, following links. Returns `None` if the path does not
    /// exist or is not a file.
    ///
    /// # Errors
    /// The errors of [`kind`](Self::kind).
    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        match self.open(path) {
            Ok(file) => Ok(Some(file.size())),
            Err(StorageError::NotFound { .. } | StorageError::NotAFile { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the storage rooted at `folder`, which need not exist yet.
    ///
    /// # Errors
    /// [`BadPath`](StorageError::BadPath) if the path is invalid.
    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>>;

    /// Returns the complete path as shown to users, for messages. Accepts any text, even invalid
    /// paths.
    fn describe(&self, path: &str) -> String;

    /// Returns the absolute URI of a path, as stored in some files of old formats. Returns `None`
    /// if other programs cannot locate the path by a URI.
    ///
    /// ```
    /// use tdb_storage::{LocalStorage, MemoryStorage, Storage};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let uri = LocalStorage::new(folder.path()).uri("__meta/f").expect("a local path has a URI");
    /// assert!(uri.starts_with("file:///") && uri.ends_with("/__meta/f"));
    /// assert_eq!(MemoryStorage::new().uri("f"), None);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    fn uri(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }

    /// Creates a folder and its missing parents, durably. Does nothing if the folder exists.
    ///
    /// # Errors
    /// [`NotAFolder`](StorageError::NotAFolder) if the path or a parent is a file,
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn create_folder(&self, folder: &str) -> Result<()>;

    /// Creates a file with `bytes` in an existing folder. When the call returns, bytes and name
    /// survive a crash of the machine.
    ///
    /// Creation is atomic for all readers. If it fails, no file is left. A crash may leave a
    /// [temporary](crate::is_temporary) file, usually in the root of the storage.
    ///
    /// # Errors
    /// [`AlreadyExists`](StorageError::AlreadyExists), because files are never overwritten.
    /// [`NotFound`](StorageError::NotFound) or [`NotAFolder`](StorageError::NotAFolder) if the
    /// parent folder is missing or is a file. [`PermissionDenied`](StorageError::PermissionDenied),
    /// [`BadPath`](StorageError::BadPath), and other I/O errors.
    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()>;

    /// Creates a file with `bytes`, or replaces an existing file. When the call returns, bytes
    /// and name survive a crash of the machine. Files of the format are never replaced.
    ///
    /// Local disks, memory and object stores replace the file atomically. Other storages remove the
    /// old file first.
    ///
    /// ```
    /// use tdb_storage::{MemoryStorage, Storage};
    ///
    /// let storage = MemoryStorage::new();
    /// storage.replace("f", b"old")?;
    /// storage.replace("f", b"new")?;
    /// assert_eq!(storage.read("f")?, b"new");
    /// # Ok::<(), tdb_storage::StorageError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAFile`](StorageError::NotAFile) if the path is a folder, and the errors of
    /// [`create_new`](Self::create_new) except for
    /// [`AlreadyExists`](StorageError::AlreadyExists).
    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        match self.remove_file(path) {
            Ok(()) | Err(StorageError::NotFound { .. }) => self.create_new(path, bytes),
            Err(error) => Err(error),
        }
    }

    /// Creates a file for incremental writing, in an existing folder. The file exists immediately.
    /// Its visible content is unspecified until [`WriteFile::finish`].
    ///
    /// Call [`sync_folder`](Self::sync_folder) to make the name durable. One call serves any number
    /// of files.
    ///
    /// # Errors
    /// The errors of [`create_new`](Self::create_new).
    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>>;

    /// Makes the names of the files in a folder durable.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound), [`NotAFolder`](StorageError::NotAFolder),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn sync_folder(&self, folder: &str) -> Result<()>;

    /// Deletes a file, durably.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound), [`NotAFile`](StorageError::NotAFile) if the path is a
    /// folder, [`ThroughLink`](StorageError::ThroughLink),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn remove_file(&self, path: &str) -> Result<()>;

    /// Deletes files, durably and in any order. Returns a result for each file, with the errors of
    /// [`remove_file`](Self::remove_file).
    ///
    /// A crash or an error may leave any of the files. A local disk syncs once for consecutive
    /// files in the same folder instead of once per file.
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

    /// Deletes a folder and its contents, durably. Symbolic links inside are deleted, not followed.
    ///
    /// # Errors
    /// [`NotFound`](StorageError::NotFound), [`NotAFolder`](StorageError::NotAFolder),
    /// [`ThroughLink`](StorageError::ThroughLink),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath)
    /// also for the root, and other I/O errors. After an error, part of the contents may be
    /// deleted.
    fn remove_folder(&self, folder: &str) -> Result<()>;

    /// Deletes folders and their contents, durably and in any order. Returns a result for each
    /// folder, with the errors of [`remove_folder`](Self::remove_folder).
    ///
    /// A crash or an error may leave any of the folders. A local disk saves syncs as in
    /// [`remove_files`](Self::remove_files).
    fn remove_folders(&self, folders: &[&str]) -> Vec<Result<()>> {
        at_once(self.profile().in_flight.min(FOLDERS_AT_ONCE), folders, |folder| self.remove_folder(folder))
    }

    /// Moves a file or a folder with contents, durably. The new parent folder must exist. Never
    /// overwrites.
    ///
    /// A local disk renames atomically. Object stores, and moves between local disks, copy
    /// everything before deleting the original. A crash may then leave the original and a complete
    /// or incomplete copy.
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
    /// [`AlreadyExists`](StorageError::AlreadyExists) if the new path exists,
    /// [`NotFound`](StorageError::NotFound) if the old path or the new parent folder does not
    /// exist, [`NotAFolder`](StorageError::NotAFolder) if the new parent is a file,
    /// [`ThroughLink`](StorageError::ThroughLink),
    /// [`PermissionDenied`](StorageError::PermissionDenied), [`BadPath`](StorageError::BadPath),
    /// and other I/O errors.
    fn rename(&self, from: &str, to: &str) -> Result<()> {
        rename_by_copying(self, from, to)
    }

    /// Reads an entire file.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), [`TooLarge`](StorageError::TooLarge), and
    /// [`UnexpectedEnd`](StorageError::UnexpectedEnd) if the file shrinks meanwhile.
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_up_to(path, u64::MAX)
    }

    /// Reads an entire file of at most `limit` bytes. The limit matters for sparse files, where a
    /// few bytes on disk may represent terabytes.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`OverLimit`](StorageError::OverLimit).
    fn read_up_to(&self, path: &str, limit: u64) -> Result<Vec<u8>> {
        Ok(self.fetch_one(&Request::all(path, limit))?.bytes)
    }

    /// Returns `true` if a file or folder has this path.
    ///
    /// # Errors
    /// The errors of [`kind`](Self::kind).
    fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.kind(path)?.is_some())
    }
}

/// A file or folder in a listing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Entry {
    /// The name, a single path component.
    pub name: String,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The size of a file in bytes, or 0 for a folder.
    pub size: u64,
}

impl Entry {
    /// Creates an entry for a file of `size` bytes.
    #[must_use]
    pub fn file(name: impl Into<String>, size: u64) -> Self {
        Self { name: name.into(), kind: EntryKind::File, size }
    }

    /// Creates an entry for a folder.
    #[must_use]
    pub fn folder(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: EntryKind::Folder, size: 0 }
    }
}

/// The kind of an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// Implements `Storage` for pointers to storages.
macro_rules! forward_all {
    () => {
        forward_storage!(|this| (**this) => list, names, open, open_sized, profile, fetch_one, fetch, fetch_each, kind, file_size, sub, describe, uri, create_folder, create_new, replace,
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

/// Reads the requested part of an open file. Returns the offset and the bytes.
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

/// Bytes per read when copying from a storage that is not remote.
const STEP: u64 = 1 << 20;

/// Maximum nesting depth of folders, because links may form cycles.
pub(crate) const DEPTH: usize = 64;

/// Copies a file in pieces and returns its size in bytes.
///
/// The bytes are durable when this returns. The name is durable after [`Storage::sync_folder`] on
/// its folder. The function calls `passed` with the size of each piece. An error of `passed` stops
/// the copy.
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
/// Fails if the source cannot be read or the copy cannot be written, and with the errors of
/// `passed`. An unfinished copy is then removed if possible.
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
    // On a remote storage, the step is the largest efficient request.
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

/// The fallback for [`Storage::rename`], which copies the source and then removes it.
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
        let why = "folders are nested too deeply; check for links that form a cycle";
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

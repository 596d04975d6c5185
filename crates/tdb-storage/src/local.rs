//! A storage in the local file system.

mod atomic;
mod durable;
mod file;
mod listing;
mod write;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::durable::Durability;
use self::file::LocalFile;
use self::listing::kind;
use self::write::LocalWriter;
use crate::path::{check_below_root, check_path, parent};
use crate::storage::{read_part, rename_by_copying};
use crate::{Entry, EntryKind, Fetched, ReadAt, Request, Result, Storage, StorageError, WriteFile};

/// A folder of the local file system.
///
/// Symbolic links are followed, so a link inside the folder may lead outside. Write access to the
/// folder therefore gives control over the files that are read. Paths read from files cannot leave
/// the root (see [`check_path`](crate::check_path)). Removals and renames through a link below the
/// root are rejected.
///
/// Listings show a link with the kind and size of its target. They omit dangling links, names that
/// are not UTF-8, and special files (pipes, sockets, devices). [`open`](Storage::open) rejects
/// special files too.
///
/// Writes and removals wait until the disk has the data, unless switched off by
/// [`without_sync`](Self::without_sync).
#[derive(Clone, Debug)]
pub struct LocalStorage {
    root: PathBuf,
    durability: Durability,
}

impl LocalStorage {
    /// Creates a storage rooted at `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), durability: Durability::Synced }
    }

    /// Returns a storage that does not wait for the disk after writes and removals. Small writes
    /// then take less time.
    ///
    /// The data survives the end of the process, but a power failure or a crash of the operating
    /// system may lose or damage files of the last seconds, including files of committed writes.
    #[must_use]
    pub fn without_sync(self) -> Self {
        Self { durability: Durability::Unsynced, ..self }
    }

    /// Returns the root folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Converts a checked path to a path of the file system.
    fn place(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    /// Converts an I/O error of an operation on `path`.
    #[cold]
    fn error(&self, path: &str, error: io::Error) -> StorageError {
        let path = self.describe(path);
        match error.kind() {
            // A component of the path is a file, so the path does not exist. Other storages also
            // report a missing path.
            io::ErrorKind::NotADirectory => StorageError::NotFound { path },
            _ => StorageError::from_io(path, error),
        }
    }

    /// Opens a regular file.
    fn open_file(&self, path: &str) -> Result<LocalFile> {
        check_path(path)?;
        let place = self.place(path);
        let opened = || {
            // Checked before opening, because opening a pipe waits for its writer.
            if !fs::metadata(&place)?.is_file() {
                return Ok(None);
            }
            let file = File::open(&place)?;
            let size = file.metadata()?.len();
            Ok(Some((file, size)))
        };
        match opened().map_err(|error| self.error(path, error))? {
            Some((file, size)) => Ok(LocalFile::new(file, size, place)),
            None => Err(StorageError::NotAFile { path: self.describe(path) }),
        }
    }

    /// Creates an empty file, which must not exist yet.
    fn create(&self, path: &str) -> Result<File> {
        File::create_new(self.place(path)).map_err(|error| self.error_of_new(path, error))
    }

    /// Rejects a path whose parent folders below the root include a symbolic link. The target of a
    /// link may belong to somebody else and must not be removed.
    fn check_no_links_above(&self, path: &str) -> Result<()> {
        let mut above = parent(path);
        while let Some(folder) = above.filter(|folder| !folder.is_empty()) {
            match fs::symlink_metadata(self.place(folder)) {
                Ok(metadata) if metadata.is_symlink() => {
                    return Err(StorageError::ThroughLink { path: self.describe(path) });
                }
                // A missing folder is harmless, because the later operation on the path fails.
                Ok(_) | Err(_) => above = parent(folder),
            }
        }
        Ok(())
    }

    /// Deletes a file without syncing its folder.
    fn unlink(&self, path: &str) -> Result<()> {
        let place = self.place(path);
        fs::remove_file(&place).map_err(|error| {
            // The error for deleting a folder as a file depends on the operating system.
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_dir() => StorageError::NotAFile { path: self.describe(path) },
                _ => self.error(path, error),
            }
        })
    }

    /// Deletes a folder and its contents without syncing its parent.
    fn remove_tree(&self, folder: &str) -> Result<()> {
        let place = self.place(folder);
        if !fs::symlink_metadata(&place).map_err(|error| self.error(folder, error))?.is_dir() {
            return Err(StorageError::NotAFolder { path: self.describe(folder) });
        }
        fs::remove_dir_all(&place).map_err(|error| self.error(folder, error))
    }

    /// Deletes the paths durably. Consecutive paths in the same folder share a sync.
    fn remove_each(&self, paths: &[&str], remove: impl Fn(&str) -> Result<()>) -> Vec<Result<()>> {
        let mut removed = Vec::with_capacity(paths.len());
        for some in paths.chunk_by(|one, next| parent(one) == parent(next)) {
            self.remove_of_folder(some, &remove, &mut removed);
        }
        removed
    }

    /// Deletes paths in the same folder and syncs the folder.
    fn remove_of_folder(&self, paths: &[&str], remove: impl Fn(&str) -> Result<()>, removed: &mut Vec<Result<()>>) {
        let Some(first) = paths.first() else { return };
        // A link above the first path is above all paths.
        let leads_through_link = check_below_root(first).and_then(|()| self.check_no_links_above(first)).is_err();
        let start = removed.len();
        removed.extend(paths.iter().map(|path| {
            check_below_root(path)?;
            if leads_through_link {
                self.check_no_links_above(path)?;
            }
            remove(path)
        }));
        let mut done = removed[start..].iter().zip(paths).filter(|(removed, _)| removed.is_ok());
        let Some((_, path)) = done.next() else { return };
        if let Err(error) = self.durability.sync_parent(&self.place(path)) {
            let kind = error.kind();
            let undone = removed[start..].iter_mut().zip(paths).filter(|(removed, _)| removed.is_ok());
            undone.for_each(|(removed, path)| *removed = Err(self.error(path, kind.into())));
        }
    }

    /// Converts an error of creating a file.
    #[cold]
    fn error_of_new(&self, path: &str, error: io::Error) -> StorageError {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                self.error_in(parent(path).unwrap_or_default(), error)
            }
            _ => self.error(path, error),
        }
    }

    /// Converts an error of an operation on `folder`, which must be a folder.
    #[cold]
    fn error_in(&self, folder: &str, error: io::Error) -> StorageError {
        let is_file = matches!(self.kind(folder), Ok(Some(EntryKind::File)));
        match error.kind() {
            io::ErrorKind::NotADirectory if is_file => StorageError::NotAFolder { path: self.describe(folder) },
            _ => self.error(folder, error),
        }
    }
}

impl Storage for LocalStorage {
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        check_path(folder)?;
        let mut entries = listing::list(&self.place(folder), true).map_err(|error| self.error_in(folder, error))?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn names(&self, folder: &str) -> Result<Vec<(String, EntryKind)>> {
        check_path(folder)?;
        let entries = listing::list(&self.place(folder), false).map_err(|error| self.error_in(folder, error))?;
        let mut names: Vec<_> = entries.into_iter().map(|entry| (entry.name, entry.kind)).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.open_file(path)?))
    }

    fn fetch_one(&self, request: &Request) -> Result<Fetched> {
        let file = self.open_file(&request.path)?;
        let (start, bytes) = read_part(self, &file, request)?;
        Ok(Fetched { file: Arc::new(file.closed()), start, bytes, is_cached: false })
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        check_path(path)?;
        match fs::metadata(self.place(path)) {
            Ok(metadata) => Ok(kind(&metadata)),
            // A path below a file does not exist. Other storages also report a missing path.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(self.error(path, error)),
        }
    }

    fn file_size(&self, path: &str) -> Result<Option<u64>> {
        check_path(path)?;
        match fs::metadata(self.place(path)) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(self.error(path, error)),
        }
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        check_path(folder)?;
        Ok(Arc::new(Self { root: self.place(folder), durability: self.durability }))
    }

    fn describe(&self, path: &str) -> String {
        if path.is_empty() {
            self.root.display().to_string()
        } else {
            // `join` would replace the root by an absolute path. Absolute paths are invalid but
            // must be shown.
            format!("{}/{path}", self.root.display())
        }
    }

    /// Resolves symbolic links like the reference library, which compares these URIs literally.
    fn uri(&self, path: &str) -> Option<String> {
        check_path(path).ok()?;
        let root = fs::canonicalize(&self.root).ok()?;
        let root = root.to_str().filter(|root| root.starts_with('/'))?.trim_end_matches('/');
        Some(if path.is_empty() { format!("file://{root}") } else { format!("file://{root}/{path}") })
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        check_path(folder)?;
        create_folders(&self.place(folder), self.durability)
            .map_err(|error| StorageError::from_io(self.describe(folder), error))
    }

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        check_below_root(path)?;
        if !bytes.is_empty() {
            return atomic::create(&self.root, &self.place(path), bytes, self.durability)
                .map_err(|error| self.error_of_new(path, error));
        }
        // An empty file cannot be half written.
        let place = self.place(path);
        let file = self.create(path)?;
        self.durability.sync_file(&file).and_then(|()| self.durability.sync_parent(&place)).map_err(|error| {
            drop(file);
            // Only the first error is reported.
            let _ = fs::remove_file(&place);
            self.error(path, error)
        })
    }

    fn replace(&self, path: &str, bytes: &[u8]) -> Result<()> {
        check_below_root(path)?;
        self.check_no_links_above(path)?;
        if matches!(self.kind(path), Ok(Some(EntryKind::Folder))) {
            return Err(StorageError::NotAFile { path: self.describe(path) });
        }
        atomic::replace(&self.place(path), bytes, self.durability).map_err(|error| self.error_of_new(path, error))
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        check_below_root(path)?;
        Ok(Box::new(LocalWriter::new(self.create(path)?, self.place(path), self.durability)))
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        check_path(folder)?;
        let place = self.place(folder);
        if !fs::metadata(&place).map_err(|error| self.error_in(folder, error))?.is_dir() {
            return Err(StorageError::NotAFolder { path: self.describe(folder) });
        }
        self.durability.sync_folder(&place).map_err(|error| self.error(folder, error))
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        check_below_root(path)?;
        self.check_no_links_above(path)?;
        self.unlink(path)?;
        self.durability.sync_parent(&self.place(path)).map_err(|error| self.error(path, error))
    }

    fn remove_files(&self, paths: &[&str]) -> Vec<Result<()>> {
        self.remove_each(paths, |path| self.unlink(path))
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        check_below_root(folder)?;
        self.check_no_links_above(folder)?;
        self.remove_tree(folder)?;
        self.durability.sync_parent(&self.place(folder)).map_err(|error| self.error(folder, error))
    }

    fn remove_folders(&self, folders: &[&str]) -> Vec<Result<()>> {
        self.remove_each(folders, |folder| {
            // Earlier removals take time. A link may have been created here meanwhile.
            self.check_no_links_above(folder)?;
            self.remove_tree(folder)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        check_below_root(from)?;
        check_below_root(to)?;
        self.check_no_links_above(from)?;
        self.check_no_links_above(to)?;
        let (place, new) = (self.place(from), self.place(to));
        fs::symlink_metadata(&place).map_err(|error| self.error(from, error))?;
        // The operating system would overwrite the target. This check is sufficient, because
        // maintenance has exclusive access to the array.
        if fs::symlink_metadata(&new).is_ok() {
            return Err(StorageError::AlreadyExists { path: self.describe(to) });
        }
        match fs::rename(&place, &new) {
            // Part of the tree is on another disk.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => rename_by_copying(self, from, to),
            Err(error) => Err(self.error_of_new(to, error)),
            Ok(()) => self
                .durability
                .sync_parent(&new)
                .and_then(|()| self.durability.sync_parent(&place))
                .map_err(|error| self.error(to, error)),
        }
    }
}

/// Creates a folder and its missing parents. Each new folder is durable in its parent before the
/// next is created in it.
fn create_folders(folder: &Path, durability: Durability) -> io::Result<()> {
    let missing: Vec<_> = folder.ancestors().take_while(|ancestor| is_missing(ancestor)).collect();
    for folder in missing.into_iter().rev() {
        match fs::create_dir(folder) {
            // Another process created the folder first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => return Err(error),
            Ok(()) => durability.sync_parent(folder)?,
        }
    }
    // An existing path may be a file.
    if fs::metadata(folder)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

fn is_missing(path: &Path) -> bool {
    !path.as_os_str().is_empty() && matches!(fs::metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

//! Folders whose files cannot lead outside.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use tdb_storage::{Entry, EntryKind, ReadAt, Result, Storage, StorageError, WriteFile, check_path};

use crate::path::is_served;

/// A local folder. Symbolic links are followed inside of the folder, and links to the outside do
/// not exist. The operating system enforces this when it opens a path, so a concurrently
/// changed link cannot lead outside.
///
/// As a storage, the folder only lists names, kinds and sizes. Hidden names are not listed.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: Arc<Dir>,
    /// The path in the root.
    path: String,
}

impl Folder {
    /// Opens a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { root: Arc::new(Dir::open_ambient_dir(path, ambient_authority())?), path: String::new() })
    }

    /// Returns the folder at a checked path below.
    pub(crate) fn below(&self, path: &str) -> Self {
        Self { root: self.root.clone(), path: self.whole(path) }
    }

    /// Opens a regular file at a checked path. Returns `None` if the file does not exist.
    pub(crate) fn file(&self, path: &str) -> io::Result<Option<(File, Metadata)>> {
        let whole = self.whole(path);
        // Opening a pipe would wait for a writer. A lookup fails for missing files, and for links
        // to the outside and in cycles.
        if !self.root.metadata(&whole).is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let file = self.root.open(&whole)?;
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then(|| (file.into_std(), metadata)))
    }

    fn whole(&self, path: &str) -> String {
        match (self.path.as_str(), path) {
            ("" | ".", "") => ".".to_owned(),
            ("" | ".", only) | (only, "") => only.to_owned(),
            (folder, path) => format!("{folder}/{path}"),
        }
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<Entry>> {
        let whole = self.whole(folder);
        let mut entries = Vec::new();
        for entry in self.root.read_dir(&whole)? {
            let entry = entry?;
            let Some(name) = entry.file_name().into_string().ok().filter(|name| is_served(name)) else { continue };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                entries.push(Entry::folder(name));
                continue;
            }
            let metadata =
                if kind.is_symlink() { self.root.metadata(format!("{whole}/{name}")) } else { entry.metadata() };
            // A link to the outside, or a file removed meanwhile.
            let Ok(metadata) = metadata else { continue };
            if metadata.is_file() {
                entries.push(Entry::file(name, metadata.len()));
            } else if metadata.is_dir() {
                entries.push(Entry::folder(name));
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn refused<T>(&self, path: &str) -> Result<T> {
        let error = io::Error::new(io::ErrorKind::Unsupported, "the folder of a web server is only listed");
        Err(StorageError::from_io(self.describe(path), error))
    }
}

impl Storage for Folder {
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        check_path(folder)?;
        self.entries(folder).map_err(|error| StorageError::from_io(self.describe(folder), error))
    }

    fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        check_path(path)?;
        Ok(match self.root.metadata(self.whole(path)) {
            Ok(metadata) if metadata.is_dir() => Some(EntryKind::Folder),
            Ok(metadata) if metadata.is_file() => Some(EntryKind::File),
            _ => None,
        })
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        check_path(folder)?;
        Ok(Arc::new(self.below(folder)))
    }

    fn describe(&self, path: &str) -> String {
        self.whole(path)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        self.refused(path)
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn create_new(&self, path: &str, _bytes: &[u8]) -> Result<()> {
        self.refused(path)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.refused(path)
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.refused(path)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.refused(folder)
    }

    fn rename(&self, from: &str, _to: &str) -> Result<()> {
        self.refused(from)
    }
}

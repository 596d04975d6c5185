//! A file to inspect, local or on a store, within an array or alone.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::ArrayError;
use tdb_storage::{EntryKind, LocalStorage, ReadAt, Storage};
use tdb_types::names::file_name;

use crate::failure::{Exit, Failure, Result};
use crate::stores;
use crate::target::{self, Kind};

/// Maximum bytes of a file to read completely. A sparse file of terabytes may take only a few bytes
/// on disk.
const MOST_BYTES: u64 = 2 << 30;

/// Maximum number of folders between a file and its array: `__labels/NAME/__schema/__enumerations`.
const DEEPEST: usize = 6;

/// A file to inspect.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    place: Place,
    /// The path as given.
    shown: String,
    /// The names of the file and of its folder.
    name: String,
    folder: String,
}

#[derive(Clone, Debug)]
enum Place {
    Local(PathBuf),
    /// A path relative to the folder of the array, or to the folder of the file.
    Store {
        storage: Arc<dyn Storage>,
        path: String,
        is_in_array: bool,
    },
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Located {
    /// Locates a local file.
    pub(crate) fn local(path: &Path) -> Self {
        // Resolves `.` and links, which hide the real names.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name_of = |path: Option<&OsStr>| path.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = name_of(real.parent().and_then(Path::file_name));
        let name = name_of(real.file_name());
        Self { place: Place::Local(path.to_owned()), shown: path.display().to_string(), name, folder }
    }

    /// Locates the file at a URI. Returns `None` if the URI is not of a store.
    ///
    /// # Errors
    /// Fails if the file does not exist.
    pub(crate) fn on_store(argument: &OsStr) -> Option<Result<Self>> {
        let (uri, query) = stores::without_query(argument.to_str()?);
        let (around, part) = uri.rsplit_once('/').filter(|(around, _)| !around.ends_with('/'))?;
        let storage = stores::open(OsStr::new(&format!("{around}{query}")))?;
        let found = |storage| Self::find((uri, query), storage, part);
        Some(storage.map_err(|error| ArrayError::from(error).into()).and_then(found))
    }

    /// Searches the parent folders for the array of the file.
    fn find((uri, query): (&str, &str), own: Arc<dyn Storage>, part: &str) -> Result<Self> {
        let decoded = |path: &str| stores::name_of(uri.split("://").next().unwrap_or_default(), path);
        let name = &*decoded(part);
        if own.kind(name).map_err(ArrayError::from)? != Some(EntryKind::File) {
            return Err(Failure::new(Exit::Unavailable, format!("{uri}: file not found")));
        }
        let (shown, folder) = (uri.to_owned(), decoded(file_name(uri.trim_end_matches(part).trim_end_matches('/'))));
        let located = |storage, path: String, is_in_array| Self {
            place: Place::Store { storage, path, is_in_array },
            shown: shown.clone(),
            name: name.to_owned(),
            folder: folder.clone(),
        };
        let mut around = uri;
        for _ in 0..DEEPEST {
            let Some((above, _)) = around.rsplit_once('/').filter(|(above, _)| !above.ends_with('/')) else { break };
            around = above;
            let Some(Ok(storage)) = stores::open(OsStr::new(&format!("{around}{query}"))) else { break };
            // A folder that cannot be listed cannot be opened as an array.
            if storage.list("").is_ok_and(|entries| Kind::of_entries(&entries) == Kind::Array) {
                return Ok(located(storage, decoded(&uri[around.len() + 1..]), true));
            }
        }
        Ok(located(own, name.to_owned(), false))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the file with this name in the same folder.
    pub(super) fn beside(&self, name: &str) -> Self {
        let place = match &self.place {
            Place::Local(path) => Place::Local(path.with_file_name(name)),
            Place::Store { storage, path, is_in_array } => {
                let path = path.rsplit_once('/').map_or(name.to_owned(), |(folder, _)| format!("{folder}/{name}"));
                Place::Store { storage: storage.clone(), path, is_in_array: *is_in_array }
            }
        };
        let shown = self.shown.rsplit_once('/').map_or(name.to_owned(), |(folder, _)| format!("{folder}/{name}"));
        Self { place, shown, name: name.to_owned(), folder: self.folder.clone() }
    }

    /// Returns the file at `path` in the array of this file, or `None` if this file is in no array.
    pub(super) fn in_its_array(&self, path: &str) -> Option<Self> {
        let (place, shown) = match &self.place {
            Place::Local(own) => {
                let path = target::array_above(own)?.join(path);
                let shown = path.display().to_string();
                (Place::Local(path), shown)
            }
            Place::Store { is_in_array: false, .. } => return None,
            Place::Store { storage, .. } => {
                let place = Place::Store { storage: storage.clone(), path: path.to_owned(), is_in_array: true };
                (place, storage.describe(path))
            }
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| file_name(folder));
        Some(Self { place, shown, name: file_name(path).to_owned(), folder: folder.to_owned() })
    }

    pub(super) fn is_there(&self) -> bool {
        match &self.place {
            Place::Local(path) => fs::canonicalize(path).is_ok_and(|path| path.is_file()),
            Place::Store { storage, path, .. } => storage.kind(path).is_ok_and(|kind| kind == Some(EntryKind::File)),
        }
    }

    /// Returns the size in bytes.
    pub(super) fn size(&self) -> Result<u64> {
        match &self.place {
            Place::Local(path) => {
                fs::metadata(path).map(|metadata| metadata.len()).map_err(|error| Failure::io(path.display(), &error))
            }
            Place::Store { .. } => Ok(self.open()?.size()),
        }
    }

    /// Opens the file for positional reads.
    pub(super) fn open(&self) -> Result<Arc<dyn ReadAt>> {
        let opened = match &self.place {
            Place::Local(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
                LocalStorage::new(folder).open(path.file_name().and_then(OsStr::to_str).unwrap_or_default())
            }
            Place::Store { storage, path, .. } => storage.open(path),
        };
        Ok(opened.map_err(ArrayError::from)?)
    }

    /// Reads up to `most` bytes from the start.
    pub(super) fn first(&self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match &self.place {
            Place::Local(path) => {
                let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
                read.map_err(|error| Failure::io(path.display(), &error))?;
            }
            Place::Store { .. } => {
                let file = self.open()?;
                bytes.resize(tdb_types::saturating_len(file.size().min(most)), 0);
                file.read_into(0, &mut bytes).map_err(ArrayError::from)?;
            }
        }
        Ok(bytes)
    }

    /// Reads all bytes.
    pub(super) fn read(&self) -> Result<Vec<u8>> {
        match &self.place {
            Place::Local(path) => read_file(path),
            Place::Store { storage, path, .. } => Ok(storage.read_up_to(path, MOST_BYTES).map_err(ArrayError::from)?),
        }
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    let fail = |error| Failure::io(path.display(), &error);
    // Checks the kind of the file before opening it, because opening a pipe waits for a writer.
    let metadata = fs::metadata(path).map_err(fail)?;
    if !metadata.is_file() {
        return Err(Failure::new(Exit::Unavailable, format!("{}: not a regular file", path.display())));
    }
    let size = metadata.len();
    if size > MOST_BYTES {
        let message = format!("{}: {size} bytes are too many to read at once", path.display());
        return Err(Failure::new(Exit::Unsupported, message));
    }
    // Memory is not reserved from the reported size, but grows with the bytes read.
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(size).read_to_end(&mut bytes)).map_err(fail)?;
    Ok(bytes)
}

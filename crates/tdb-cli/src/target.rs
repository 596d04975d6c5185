//! The kind of the object at a path, and functions to open it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tdb_array::{Array, ArrayError, ArrayOptions, Group, GroupOptions};
use tdb_storage::{Entry, EntryKind, LocalStorage, Storage};
use tdb_types::names;

use crate::failure::{Exit, Failure, Result, interrupted_migration};
use crate::key::Key;
use crate::setter::with;
use crate::time::TimeArgs;
use crate::{location, session, stores, suggest};

/// The kind of the object at a path, as far as its contents show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Array,
    Group,
    /// A key-value store of releases 1.2 to 1.7.
    KeyValue,
    /// A folder of an array with data files and their metadata.
    Fragment,
    Folder,
    File,
    /// A pipe, a socket or a device.
    Other,
}

impl Kind {
    /// Returns the name with an article, for sentences.
    pub(crate) fn a(self) -> String {
        match self {
            Self::Other => "neither a file nor a folder".to_owned(),
            Self::KeyValue => "a key-value store".to_owned(),
            Self::Array => "an array".to_owned(),
            _ => format!("a {}", self.name()),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Group => "group",
            Self::KeyValue => "key-value",
            Self::Fragment => "fragment",
            Self::Folder => "folder",
            Self::File => "file",
            Self::Other => "other",
        }
    }

    /// Returns the kind of a folder with these entries.
    pub(crate) fn of_entries(entries: &[Entry]) -> Self {
        let has = |name: &str, kind| entries.iter().any(|entry| entry.name == name && entry.kind == kind);
        Self::holding(|name| has(name, EntryKind::Folder), |name| has(name, EntryKind::File))
    }

    /// Returns the kind of a folder with these folders and files.
    fn holding(has_folder: impl Fn(&str) -> bool, has_file: impl Fn(&str) -> bool) -> Self {
        let has_schema = has_folder(names::SCHEMA_FOLDER) || has_file(names::LEGACY_SCHEMA);
        if has_schema || has_file(names::FIRST_SCHEMA) {
            Self::Array
        } else if has_file(names::KEY_VALUE_SCHEMA) {
            Self::KeyValue
        } else if has_folder(names::GROUP_FOLDER) || has_file(names::GROUP_MARKER) {
            Self::Group
        } else if has_file(names::FRAGMENT_METADATA) {
            Self::Fragment
        } else {
            Self::Folder
        }
    }

    /// Returns the kind of the object at a path.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_dir() {
            return Ok(if metadata.is_file() { Self::File } else { Self::Other });
        }
        Ok(Self::holding(|name| path.join(name).is_dir(), |name| path.join(name).is_file()))
    }
}

/// Returns the storage of a path or URI, which need not exist.
///
/// # Errors
/// Fails if the URI cannot be opened or has an unknown scheme.
pub(crate) fn storage(argument: &OsStr) -> Result<Arc<dyn Storage>> {
    match stores::open(argument) {
        Some(storage) => Ok(storage.map_err(ArrayError::from)?),
        None => Ok(local_storage(&location::local(argument)?)),
    }
}

/// Returns the local path or the URI of an argument, and the kind of the object there.
///
/// # Errors
/// Fails if the object does not exist, or if the argument is no valid path.
pub(crate) fn find(argument: &OsStr) -> Result<(PathBuf, Kind)> {
    if let Some(storage) = stores::open(argument) {
        let entries = storage.and_then(|storage| storage.list("")).map_err(ArrayError::from)?;
        return Ok((PathBuf::from(argument), Kind::of_entries(&entries)));
    }
    find_local(argument)
}

/// Returns the local path of an argument, and the kind of the object there.
///
/// # Errors
/// Fails if the object does not exist, or if the argument is no local path.
pub(crate) fn find_local(argument: &OsStr) -> Result<(PathBuf, Kind)> {
    let path = location::local(argument)?;
    match Kind::of(&path) {
        Ok(kind) => Ok((path, kind)),
        Err(error) => {
            let failure = Failure::io(path.display(), &error);
            if let (io::ErrorKind::NotFound, Some(hint)) = (error.kind(), interrupted_migration(&path)) {
                return Err(failure.with_hint(hint));
            }
            Err(match (error.kind(), near(&path)) {
                (io::ErrorKind::NotFound, Some(near)) => failure.with_hint(format!("did you mean {}?", near.display())),
                (io::ErrorKind::NotFound, None) => failure.with_hint("run `tdb ls FOLDER` to list a folder"),
                _ => failure,
            })
        }
    }
}

/// Returns a path in the same folder with a name similar to the missing one.
fn near(missing: &Path) -> Option<PathBuf> {
    let name = missing.file_name()?.to_str()?;
    let parent = missing.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = fs::read_dir(parent.unwrap_or(Path::new("."))).ok()?;
    // A suggestion is not worth listing a huge folder.
    let names: Vec<String> =
        entries.take(10_000).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let near = suggest::nearest(name, names.iter().map(String::as_str))?;
    Some(missing.with_file_name(near))
}

/// Opens the array at a path or URI, without its fragments.
///
/// # Errors
/// Fails if the array does not exist or cannot be opened.
pub(crate) fn open_array(argument: &OsStr, threads: usize, time: &TimeArgs, key: &Key) -> Result<(PathBuf, Array)> {
    open_with(argument, &options(threads, time, key))
}

/// Opens the array at a path or URI, in order to read cells or fragments.
///
/// # Errors
/// Fails if the array does not exist or cannot be opened.
pub(crate) fn open_to_read(argument: &OsStr, threads: usize, time: &TimeArgs, key: &Key) -> Result<(PathBuf, Array)> {
    open_with(argument, &options(threads, time, key).with_footers())
}

fn open_with(argument: &OsStr, options: &ArrayOptions) -> Result<(PathBuf, Array)> {
    if let Some(storage) = stores::open(argument) {
        let array = options.open_on(storage.map_err(ArrayError::from)?)?;
        session::opened(&array);
        return Ok((PathBuf::from(argument), array));
    }
    let (path, kind) = find(argument)?;
    match kind {
        // The library reports unsupported arrays.
        Kind::Array | Kind::KeyValue => {}
        _ => return Err(not_an_array(&path, kind)),
    }
    let array = options.open_on(local_storage(&path))?;
    session::opened(&array);
    Ok((path, array))
}

/// Returns options for opening arrays at a time, with a key.
pub(crate) fn options(threads: usize, time: &TimeArgs, key: &Key) -> ArrayOptions {
    let options = key.options().threads(threads).skip_damaged(session::options().skip_damaged);
    with(options, time.range(), ArrayOptions::between)
}

/// Opens the group in a local folder or at a URI.
///
/// # Errors
/// Fails if the group cannot be opened.
pub(crate) fn open_group(path: &Path, time: &TimeArgs, key: &Key) -> Result<Group> {
    let options = with(key.group_options(), time.range(), GroupOptions::between);
    let group = match stores::open(path.as_os_str()) {
        Some(storage) => options.open_on(storage.map_err(ArrayError::from)?)?,
        None => options.open_on_folder(local_storage(path), path)?,
    };
    session::opened_group(&group);
    Ok(group)
}

/// Returns the failure of a command that needs an array and found another object.
pub(crate) fn not_an_array(folder: &Path, kind: Kind) -> Failure {
    let failure = unexpected(folder, kind, "not an array");
    if kind == Kind::Fragment { failure.with_hint("give the path of its array") } else { failure }
}

/// Returns the failure of a command that found an object of another kind than the expected one.
pub(crate) fn unexpected(folder: &Path, kind: Kind, expected: &str) -> Failure {
    let path = folder.display();
    let failure = Failure::new(Exit::Unavailable, format!("{path}: {expected}, but {}", kind.a()));
    match kind {
        Kind::Array | Kind::KeyValue | Kind::Other => failure,
        Kind::Group | Kind::Folder => match array_in(folder) {
            Some(array) => failure.with_hint(format!("did you mean {}?", array.display())),
            None => failure.with_hint(format!("run `tdb ls --recursive {path}` to list the arrays in it")),
        },
        Kind::Fragment => {
            failure.with_hint(format!("run `tdb inspect {path}/__fragment_metadata.tdb` to inspect its metadata"))
        }
        Kind::File => failure.with_hint(format!("run `tdb inspect {path}` to inspect a single file of an array")),
    }
}

/// Returns the only array in a folder. Returns `None` for a folder without arrays or with several.
pub(crate) fn array_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.take(1000).filter_map(Result::ok);
    let mut arrays = entries.map(|entry| entry.path()).filter(|path| matches!(Kind::of(path), Ok(Kind::Array)));
    arrays.next().filter(|_| arrays.next().is_none())
}

/// Returns the array that contains a path: the nearest parent folder that is an array.
pub(crate) fn array_above(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    path.ancestors().skip(1).find(|folder| matches!(Kind::of(folder), Ok(Kind::Array))).map(Path::to_path_buf)
}

/// Returns the storage of a local folder.
pub(crate) fn local_storage(path: &Path) -> Arc<dyn Storage> {
    let storage = LocalStorage::new(path);
    Arc::new(if session::options().no_sync { storage.without_sync() } else { storage })
}

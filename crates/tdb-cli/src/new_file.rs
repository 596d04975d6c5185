//! Files that commands create atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

use tempfile::{NamedTempFile, PersistError};

use crate::failure::{Exit, Failure, Result};

/// The name of standard output.
pub(crate) const STDOUT: &str = "-";

/// A file under construction.
pub(crate) struct NewFile<'a> {
    path: &'a Path,
    place: Place,
}

enum Place {
    /// A temporary file in the same folder. It is renamed at the end, or removed.
    Temporary(NamedTempFile),
    /// Standard output, a pipe or a device.
    Stream(File),
}

impl<'a> NewFile<'a> {
    /// Begins a file, which must not exist. Pipes, devices and standard output (`-`) are written
    /// directly.
    ///
    /// # Errors
    /// Fails if the path exists, or if the folder cannot be written.
    pub(crate) fn begin(path: &'a Path) -> Result<Self> {
        let place = if path == Path::new(STDOUT) {
            stdout().map(Place::Stream)
        } else if is_stream(path) {
            OpenOptions::new().write(true).open(path).map(Place::Stream)
        } else if fs::symlink_metadata(path).is_ok() {
            Err(ErrorKind::AlreadyExists.into())
        } else {
            temporary(path).map(Place::Temporary)
        };
        place.map(|place| Self { path, place }).map_err(|error| failed(path, &error))
    }

    /// Returns a handle of the file to write to.
    ///
    /// # Errors
    /// Fails if the process cannot open another file.
    pub(crate) fn file(&self) -> Result<File> {
        let file = match &self.place {
            Place::Temporary(file) => file.as_file(),
            Place::Stream(file) => file,
        };
        file.try_clone().map_err(|error| failed(self.path, &error))
    }

    /// Makes the bytes durable, then gives the file its name.
    ///
    /// # Errors
    /// Fails if the path has been created in the meantime, or on an I/O error.
    pub(crate) fn finish(self) -> Result<()> {
        let Place::Temporary(file) = self.place else { return Ok(()) };
        let named = file.as_file().sync_all().and_then(|()| named(file, self.path));
        named.map_err(|error| failed(self.path, &error))
    }
}

/// Returns `true` if the command writes to a path directly, without a temporary file: standard
/// output, a pipe or a device.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new(STDOUT) || fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Renames a temporary file. Fails if the path exists.
fn named(file: NamedTempFile, path: &Path) -> io::Result<()> {
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Some file systems do not support renaming without replacement.
        Err(PersistError { file, error }) if error.kind() != ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            file.persist(path).map(drop).map_err(|_| error)
        }
        Err(PersistError { error, .. }) => Err(error),
    }
}

/// Creates an empty file in the folder of `path`, with the permissions of a new file.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new();
    file.prefix(".tdb-unfinished-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        file.permissions(fs::Permissions::from_mode(0o666));
    }
    file.tempfile_in(folder)
}

#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;

    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;

    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

#[cold]
fn failed(path: &Path, error: &io::Error) -> Failure {
    let name = if path == Path::new(STDOUT) { "standard output".into() } else { path.display().to_string() };
    match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(Exit::Unavailable, format!("{name}: already exists; existing files are never overwritten"))
                .with_hint("choose another name, or remove the existing file")
        }
        _ => Failure::io(name, error),
    }
}

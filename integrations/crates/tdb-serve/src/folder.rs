//! Folders whose files cannot lead outside.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use tdb_storage::{Entry, EntryKind, ReadAt, Result, Storage, StorageError, WriteFile, check_path};

use crate::path::is_served;

/// Maximum number of listed folders in the search for arrays below a root.
pub(crate) const SEARCHED: usize = 10_000;

/// Maximum number of listings of a folder that changes meanwhile.
const ATTEMPTS: usize = 100;

/// A local folder. Symbolic links are followed inside of the folder. Links to the outside and to
/// hidden names do not exist. The operating system enforces the folder when it opens a path, so a
/// concurrently changed link cannot lead outside.
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
        // Opening a device can have effects. A lookup fails for missing files, and for links to the
        // outside and in cycles.
        match self.resolved(path) {
            Ok(real) if self.root.metadata(&real).is_ok_and(|metadata| metadata.is_file()) => self.opened(&real),
            _ => Ok(None),
        }
    }

    /// Opens a regular file at a path of the root.
    fn opened(&self, path: &Path) -> io::Result<Option<(File, Metadata)>> {
        let mut options = OpenOptions::new();
        options.read(true);
        // A pipe may have replaced the file. Without the flag, opening it waits for a writer.
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let file = self.root.open_with(path, &options)?;
        let metadata = file.metadata()?;
        Ok(metadata.is_file().then(|| (file.into_std(), metadata)))
    }

    /// Returns the path in the root without symbolic links. Fails for links to hidden names.
    fn resolved(&self, path: &str) -> io::Result<PathBuf> {
        self.real(Path::new(&self.whole(path)))
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let real = self.root.canonicalize(path)?;
        let is_hidden = |part| matches!(part, Component::Normal(name) if !name.to_str().is_some_and(is_served));
        if real.components().any(is_hidden) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(real)
    }

    fn whole(&self, path: &str) -> String {
        match (self.path.as_str(), path) {
            ("" | ".", "") => ".".to_owned(),
            ("" | ".", only) | (only, "") => only.to_owned(),
            (folder, path) => format!("{folder}/{path}"),
        }
    }

    fn entries(&self, folder: &str) -> io::Result<Vec<Entry>> {
        for _ in 0..ATTEMPTS {
            if let Some(entries) = self.read(folder)? {
                return Ok(entries);
            }
        }
        Err(io::Error::other("files change faster than the folder can be listed"))
    }

    /// Reads the entries. Returns `None` if the folder changed meanwhile: a file may have replaced an
    /// entry after its name was passed, and the list would contain neither.
    fn read(&self, folder: &str) -> io::Result<Option<Vec<Entry>>> {
        let real = self.resolved(folder)?;
        let changed = || self.root.metadata(&real).and_then(|metadata| metadata.modified()).ok();
        let before = changed();
        let mut entries = Vec::new();
        for entry in self.root.read_dir(&real)? {
            let entry = entry?;
            let Some(name) = entry.file_name().into_string().ok().filter(|name| is_served(name)) else { continue };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                entries.push(Entry::folder(name));
                continue;
            }
            let metadata = if kind.is_symlink() {
                self.real(&real.join(&name)).and_then(|real| self.root.metadata(real))
            } else {
                entry.metadata()
            };
            let metadata = match metadata {
                Ok(metadata) => metadata,
                // A link to the outside, to a hidden name, to a missing file, or in a cycle.
                Err(_) if kind.is_symlink() => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            if metadata.is_file() {
                entries.push(Entry::file(name, metadata.len()));
            } else if metadata.is_dir() {
                entries.push(Entry::folder(name));
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((changed() == before).then_some(entries))
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
        Ok(match self.resolved(path).and_then(|real| self.root.metadata(real)) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // helpers of tests are tests
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    use std::{fs, thread};

    use super::*;

    #[test]
    fn listings_contain_a_replaced_file_or_its_replacement() {
        let place = tempfile::tempdir().unwrap();
        (0..200).for_each(|number| fs::write(place.path().join(format!("f{number}")), "").unwrap());
        let folder = Folder::open(place.path()).unwrap();
        let began = Instant::now();
        assert_eq!(folder.list("").unwrap().len(), 200);
        // The time of a change may have a resolution of some milliseconds.
        let pause = (began.elapsed() * 3).max(Duration::from_millis(20));
        fs::write(place.path().join("old"), "").unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for (new, old) in [("new", "old"), ("old", "new")] {
                        fs::write(place.path().join(new), "").unwrap();
                        fs::remove_file(place.path().join(old)).unwrap();
                        thread::sleep(pause);
                    }
                }
            });
            let listings: Vec<_> = (0..100).map(|_| folder.list("").unwrap()).collect();
            stop.store(true, Ordering::Relaxed);
            for entries in listings {
                assert!(entries.iter().any(|entry| entry.name == "old" || entry.name == "new"));
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn opening_a_pipe_does_not_wait() {
        let place = tempfile::tempdir().unwrap();
        assert!(std::process::Command::new("mkfifo").arg(place.path().join("pipe")).status().unwrap().success());
        assert!(Folder::open(place.path()).unwrap().opened(Path::new("pipe")).unwrap().is_none());
    }
}

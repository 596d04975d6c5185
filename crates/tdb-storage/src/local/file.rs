//! Positional reads from files of the operating system.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::file::check_end;
use crate::{ReadAt, ReadProfile, Result, StorageError};

/// Maximum number of open files. Systems allow about a thousand per process by default, and an
/// array may have many more. Further files are opened for each read.
const MOST_HELD: usize = 512;

/// Number of open files.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// An open file, closed when dropped.
#[derive(Debug)]
struct Held(positional::Handle);

impl Held {
    /// Returns `None` if too many files are open.
    fn new(file: File) -> Option<Self> {
        let below = |held| (held < MOST_HELD).then_some(held + 1);
        HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, below).ok()?;
        Some(Self(positional::Handle::from(file)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A file of a [`LocalStorage`](crate::LocalStorage).
#[derive(Debug)]
pub(super) struct LocalFile {
    /// Uninitialized if the file was closed and not read again. `None` if too many files were open
    /// or the file could not be reopened. Each read then opens the file.
    held: OnceLock<Option<Held>>,
    size: u64,
    path: PathBuf,
}

impl LocalFile {
    pub(super) fn new(file: File, size: u64, path: PathBuf) -> Self {
        Self { held: OnceLock::from(Held::new(file)), size, path }
    }

    /// Closes the file until the next read.
    ///
    /// Most files are read once, and open files are costly. Linux grows the table of open files by
    /// doubling. With several threads, each growth waits until no thread uses the old table.
    pub(super) fn closed(self) -> Self {
        Self { held: OnceLock::new(), ..self }
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // A failed open is retried below, which returns the error.
        match self.held.get_or_init(|| File::open(&self.path).ok().and_then(Held::new)) {
            Some(Held(file)) => positional::read_exact_at(file, offset, buffer),
            None => positional::read_exact_at(&positional::Handle::from(File::open(&self.path)?), offset, buffer),
        }
    }

    fn path(&self) -> String {
        self.path.display().to_string()
    }
}

impl ReadAt for LocalFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        check_end(self.size, offset, buffer.len(), || self.path())?;
        self.read(offset, buffer).map_err(|error| {
            let (path, need, size) = (self.path(), buffer.len() as u64, self.size);
            match error.kind() {
                // The file was truncated after opening.
                io::ErrorKind::UnexpectedEof => StorageError::UnexpectedEnd { path, offset, need, size },
                _ => StorageError::from_io(path, error),
            }
        })
    }

    fn profile(&self) -> ReadProfile {
        ReadProfile::LOCAL
    }
}

#[cfg(unix)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    pub(super) type Handle = File;

    pub(super) fn read_exact_at(file: &Handle, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        file.read_exact_at(buffer, offset)
    }
}

#[cfg(windows)]
mod positional {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt;

    pub(super) type Handle = File;

    /// `seek_read` moves the file's cursor but reads at the given offset, regardless of concurrent
    /// cursor changes.
    pub(super) fn read_exact_at(file: &Handle, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match file.seek_read(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    offset += read as u64;
                    buffer = buffer.get_mut(read..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Seek and read under a lock, for systems without positional reads. Tests compile it on all
/// systems.
#[cfg_attr(any(unix, windows), allow(dead_code))]
#[cfg(any(test, not(any(unix, windows))))]
mod seeking {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};

    #[derive(Debug)]
    pub(super) struct Handle(Mutex<File>);

    impl From<File> for Handle {
        fn from(file: File) -> Self {
            Self(Mutex::new(file))
        }
    }

    pub(super) fn read_exact_at(file: &Handle, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Each use seeks first, so a poisoned lock is harmless.
        let mut file = file.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

#[cfg(not(any(unix, windows)))]
use seeking as positional;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn both_ways_to_read_at_an_offset_agree() {
        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..=255).collect();
        file.write_all(&bytes).unwrap();
        let seeking = seeking::Handle::from(file.try_clone().unwrap());
        let positional = positional::Handle::from(file);
        for (offset, len) in [(0, 0), (0, 256), (7, 100), (255, 1), (256, 0), (255, 2), (1000, 1)] {
            let (mut a, mut b) = (vec![0; len], vec![0; len]);
            let first = positional::read_exact_at(&positional, offset, &mut a).map_err(|error| error.kind());
            let second = seeking::read_exact_at(&seeking, offset, &mut b).map_err(|error| error.kind());
            assert_eq!(first, second, "{offset} {len}");
            if first.is_ok() {
                let start = usize::try_from(offset).unwrap();
                assert_eq!((&a[..], &b[..]), (&bytes[start..start + len], &bytes[start..start + len]));
            }
        }
    }

    /// Files beyond the limit of open files remain readable.
    #[test]
    fn many_files_can_be_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let open = || LocalFile::new(File::open(&path).unwrap(), 10, path.clone());
        let files: Vec<LocalFile> = (0..2 * MOST_HELD).map(|_| open()).collect();
        assert!(files.iter().filter(|file| file.held.get().is_some_and(Option::is_some)).count() <= MOST_HELD);
        let mut bytes = [0; 3];
        for file in &files {
            file.read_into(4, &mut bytes).unwrap();
            assert_eq!(&bytes, b"456");
        }
        drop(files);
        assert!(open().held.get().is_some_and(Option::is_some));
    }

    #[test]
    fn a_closed_file_reopens_at_the_next_read_and_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let closed = || LocalFile::new(File::open(&path).unwrap(), 10, path.clone()).closed();
        let (file, late) = (closed(), closed());
        assert!(file.held.get().is_none());
        let mut bytes = [0; 3];
        file.read_into(4, &mut bytes).unwrap();
        assert_eq!(&bytes, b"456");
        std::fs::remove_file(&path).unwrap();
        file.read_into(7, &mut bytes).unwrap();
        assert_eq!(&bytes, b"789");
        assert!(matches!(late.read_into(0, &mut bytes), Err(StorageError::NotFound { .. })));
    }
}

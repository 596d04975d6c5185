//! Positional reads from a file, on each kind of system.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::storage::check_end;
use crate::{ReadAt, Result, StorageError};

/// An open file of a [`LocalStorage`](crate::LocalStorage).
#[derive(Debug)]
pub(super) struct LocalFile {
    file: positional::Handle,
    size: u64,
    path: PathBuf,
}

impl LocalFile {
    pub(super) fn new(file: File, size: u64, path: PathBuf) -> Self {
        Self { file: positional::Handle::from(file), size, path }
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
        positional::read_exact_at(&self.file, offset, buffer).map_err(|error| {
            let (path, need, size) = (self.path(), buffer.len() as u64, self.size);
            match error.kind() {
                // The file was cut short after it was opened.
                io::ErrorKind::UnexpectedEof => StorageError::UnexpectedEnd { path, offset, need, size },
                _ => StorageError::from_io(path, error),
            }
        })
    }

    /// A read costs about as much as copying 16 KiB out of the page cache.
    fn preferred_gap(&self) -> u64 {
        16 << 10
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

    /// `seek_read` moves the file's cursor, but reads at the given offset whatever other threads do to the cursor.
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

/// Systems without positional reads: seek and read under a lock. Compiled by the tests everywhere, so that it stays sound.
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
        // Each use seeks first, so whatever a panicking thread left is no matter.
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
}

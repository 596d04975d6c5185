//! A storage that reports wrong file sizes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tdb_storage::{Entry, EntryKind, ReadAt, ReadProfile, Result, Storage, StorageError, WriteFile, forward_storage};

use crate::stored::joined;

/// A wrong report of a [`LyingStorage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Listings report this file size.
    Listed(u64),
    /// Open files report this size. Bytes beyond the real end cannot be read.
    Size(u64),
    /// Open files report half of their size.
    Half,
    /// Open files report a different size at each call: the real size, 0, half, triple,
    /// [`u64::MAX`].
    Changing,
    /// After this number of reads, the second half of a file is unreadable.
    Shrinking(u64),
    /// Zeros follow the bytes of the file, up to this size. The zeros are a hole and take no disk
    /// space.
    Behind(u64),
    /// Zeros precede the bytes of the file, up to this size. The file ends with the real bytes.
    Before(u64),
    /// Like [`Before`](Self::Before), with the last eight bytes as the length of a footer. This
    /// length covers all preceding bytes, minus the second number.
    Footer(u64, u64),
}

impl Lie {
    /// Examples of each kind. Some sizes exceed all memory, and some are slightly too large.
    pub const ALL: [Self; 15] = [
        Self::Listed(1 << 40),
        Self::Listed(u64::MAX),
        Self::Size(1 << 40),
        Self::Size(u64::MAX),
        Self::Size(0),
        Self::Half,
        Self::Changing,
        Self::Shrinking(1),
        Self::Behind(1 << 40),
        Self::Behind(100 << 20),
        Self::Before(1 << 40),
        Self::Before(100 << 20),
        Self::Footer(1 << 40, 0),
        Self::Footer(1 << 40, (1 << 40) - (100 << 20)),
        Self::Footer(u64::MAX, 100),
    ];
}

/// A read-only storage wrapper that reports wrong sizes for all files whose path contains a text.
/// An empty text selects all files.
///
/// ```
/// use std::sync::Arc;
/// use tdb_storage::{MemoryStorage, Storage};
/// use tdb_testkit::{Lie, LyingStorage};
///
/// let disk = MemoryStorage::new();
/// disk.create_new("f", b"0123").unwrap();
/// let storage = LyingStorage::new(Arc::new(disk), "f", Lie::Before(1 << 40));
/// let file = storage.open("f").unwrap();
/// let mut bytes = [9; 6];
/// file.read_into((1 << 40) - 6, &mut bytes).unwrap();
/// assert_eq!(&bytes, b"\0\x000123");
/// ```
#[derive(Clone, Debug)]
pub struct LyingStorage {
    inner: Arc<dyn Storage>,
    /// The path of the root of this storage within the wrapped storage.
    root: String,
    about: Arc<str>,
    lie: Lie,
    /// Number of bytes read from holes.
    hollow: Arc<AtomicU64>,
}

impl LyingStorage {
    /// Creates a storage with a wrong size for each file of `inner` with `about` in the path.
    #[must_use]
    pub fn new(inner: Arc<dyn Storage>, about: &str, lie: Lie) -> Self {
        Self { inner, root: String::new(), about: about.into(), lie, hollow: Arc::default() }
    }

    /// Returns the number of bytes read from holes.
    #[must_use]
    pub fn hollow_bytes(&self) -> u64 {
        self.hollow.load(Relaxed)
    }

    /// Returns the path within the wrapped storage.
    fn whole(&self, path: &str) -> String {
        joined(&self.root, path)
    }

    fn refuse<T>(&self, path: &str) -> Result<T> {
        Err(StorageError::PermissionDenied { path: self.describe(path) })
    }
}

impl Storage for LyingStorage {
    forward_storage!(|this| this.inner => kind, describe, uri);
    fn list(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut entries = self.inner.list(folder)?;
        if let Lie::Listed(size) = self.lie {
            for entry in entries.iter_mut().filter(|entry| entry.kind == EntryKind::File) {
                if self.whole(&format!("{folder}/{}", entry.name)).contains(&*self.about) {
                    entry.size = size;
                }
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>> {
        let inner = self.inner.open(path)?;
        if !self.whole(path).contains(&*self.about) {
            return Ok(inner);
        }
        let (calls, reads) = (AtomicU64::new(0), AtomicU64::new(0));
        let hollow = Arc::clone(&self.hollow);
        Ok(Arc::new(LyingFile { inner, path: self.describe(path), lie: self.lie, calls, reads, hollow }))
    }

    fn sub(&self, folder: &str) -> Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self { inner: self.inner.sub(folder)?, root: self.whole(folder), ..self.clone() }))
    }

    fn create_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }

    fn create_new(&self, path: &str, _: &[u8]) -> Result<()> {
        self.refuse(path)
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.refuse(path)
    }

    fn sync_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.refuse(path)
    }

    fn remove_folder(&self, folder: &str) -> Result<()> {
        self.refuse(folder)
    }
}

#[derive(Debug)]
struct LyingFile {
    inner: Arc<dyn ReadAt>,
    path: String,
    lie: Lie,
    /// Number of calls of `size`.
    calls: AtomicU64,
    reads: AtomicU64,
    hollow: Arc<AtomicU64>,
}

impl LyingFile {
    fn end(&self, offset: u64, buffer: &[u8], size: u64) -> StorageError {
        StorageError::UnexpectedEnd { path: self.path.clone(), offset, need: buffer.len() as u64, size }
    }

    /// Reads from a file of `size` bytes. The real bytes begin at `start`, surrounded by zeros.
    fn read_padded(&self, offset: u64, buffer: &mut [u8], start: u64, size: u64) -> Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= size);
        let Some(end) = end else { return Err(self.end(offset, buffer, size)) };
        buffer.fill(0);
        let from = offset.max(start);
        let until = end.min(start.saturating_add(self.inner.size()));
        let real = until.saturating_sub(from);
        self.hollow.fetch_add(buffer.len() as u64 - real, Relaxed);
        if real == 0 {
            return Ok(());
        }
        self.inner.read_into(from - start, &mut buffer[(from - offset) as usize..][..real as usize])
    }
}

impl ReadAt for LyingFile {
    fn size(&self) -> u64 {
        let size = self.inner.size();
        match self.lie {
            Lie::Listed(_) | Lie::Shrinking(_) => size,
            Lie::Size(size) => size,
            Lie::Half => size / 2,
            Lie::Changing => match self.calls.fetch_add(1, Relaxed) % 5 {
                0 => size,
                1 => 0,
                2 => size / 2,
                3 => size.saturating_mul(3),
                _ => u64::MAX,
            },
            Lie::Behind(large) | Lie::Before(large) | Lie::Footer(large, _) => large.max(size),
        }
    }

    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let (real, size) = (self.inner.size(), self.size());
        match self.lie {
            Lie::Listed(_) | Lie::Size(_) | Lie::Half | Lie::Changing => self.inner.read_into(offset, buffer),
            Lie::Shrinking(most) => {
                let is_over = self.reads.fetch_add(1, Relaxed) >= most;
                if is_over && offset.saturating_add(buffer.len() as u64) > real / 2 {
                    return Err(self.end(offset, buffer, real));
                }
                self.inner.read_into(offset, buffer)
            }
            Lie::Behind(_) => self.read_padded(offset, buffer, 0, size),
            Lie::Before(_) => self.read_padded(offset, buffer, size - real, size),
            Lie::Footer(_, rest) => {
                self.read_padded(offset, buffer, size - real, size)?;
                let length = (size - 8).saturating_sub(rest).to_le_bytes();
                for (index, byte) in length.into_iter().enumerate() {
                    let place = (size - 8 + index as u64).checked_sub(offset);
                    if let Some(at) = place.filter(|at| *at < buffer.len() as u64) {
                        buffer[at as usize] = byte;
                    }
                }
                Ok(())
            }
        }
    }

    fn profile(&self) -> ReadProfile {
        self.inner.profile()
    }
}

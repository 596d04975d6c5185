//! The file of a fragment's metadata, of which the end is kept in memory.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tdb_fragment::{FIRST_READ, FragmentError};
use tdb_storage::{ReadAt, Storage};

use crate::{ArrayError, Result};

/// A `__fragment_metadata.tdb`: its last bytes are read once and kept, so that sections that lie in them, all of a small
/// fragment, cost no further read. If the footer came from somewhere else, nobody has opened it yet.
#[derive(Debug)]
pub(super) struct MetadataFile {
    storage: Arc<dyn Storage>,
    /// The path below the array's folder.
    path: String,
    /// The path for messages.
    described: String,
    open: OnceLock<Open>,
}

#[derive(Debug)]
struct Open {
    file: Arc<dyn ReadAt>,
    /// The end of the file.
    tail: Vec<u8>,
    /// Where the sections end and the footer begins, if that is known, else the file's size.
    sections_end: u64,
}

impl MetadataFile {
    /// The file at `path`, to be opened when somebody wants something of it.
    pub(super) fn closed(storage: Arc<dyn Storage>, path: String) -> Self {
        let described = storage.describe(&path);
        Self { storage, path, described, open: OnceLock::new() }
    }

    /// The same file, opened, with the bytes from `start` of its size on in memory.
    pub(super) fn open(mut self, start: impl FnOnce(u64) -> u64) -> Result<Self> {
        let file = self.storage.open(&self.path)?;
        let size = file.size();
        self.open = OnceLock::from(Open { tail: read_tail(&*file, start(size))?, file, sections_end: size });
        Ok(self)
    }

    fn opened(&self) -> Result<&Open> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let file = self.storage.open(&self.path)?;
        let size = file.size();
        // Sections of a larger file that are wanted lie anywhere in it.
        let tail = if size <= FIRST_READ { read_tail(&*file, 0)? } else { Vec::new() };
        // Two threads may both open it; the first one's stays.
        Ok(self.open.get_or_init(|| Open { file, tail, sections_end: size }))
    }

    pub(super) fn size(&self) -> Result<u64> {
        if let Some(open) = self.open.get() {
            return Ok(open.file.size());
        }
        Ok(self.opened()?.file.size())
    }

    /// The path for messages.
    pub(super) fn described(&self) -> &str {
        &self.described
    }

    /// The bytes at the end of the file that are in memory.
    pub(super) fn tail(&self) -> &[u8] {
        self.open.get().map_or(&[], |open| &open.tail)
    }

    /// Brings the end of the file, from `start` on, into memory.
    pub(super) fn read_tail(&mut self, start: u64) -> Result<()> {
        self.opened()?;
        if let Some(open) = self.open.get_mut() {
            open.tail = read_tail(&*open.file, start)?;
        }
        Ok(())
    }

    /// Where the sections end, as far as is known.
    pub(super) fn sections_end(&self) -> Result<u64> {
        Ok(self.opened()?.sections_end)
    }

    /// Gives the memory of the file's end back.
    pub(super) fn forget_tail(&mut self) {
        if let Some(open) = self.open.get_mut() {
            open.tail = Vec::new();
        }
    }

    /// Notes where the footer begins.
    pub(super) fn end_sections_at(&mut self, footer_start: u64) {
        if let Some(open) = self.open.get_mut() {
            open.sections_end = footer_start;
        }
    }

    /// Bytes of the file, from memory if they are there.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        let Open { file, tail, .. } = self.opened()?;
        let tail_start = file.size() - tail.len() as u64;
        if let (Some(start), Some(end)) = (range.start.checked_sub(tail_start), range.end.checked_sub(tail_start))
            && let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end))
            && let Some(bytes) = tail.get(start..end)
        {
            return Ok(Cow::Borrowed(bytes));
        }
        // Ranges come from a footer whose offsets were checked against the file's size.
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)];
        file.read_into(range.start, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    #[cold]
    pub(super) fn error(&self, source: FragmentError) -> ArrayError {
        ArrayError::Fragment { file: self.described.clone(), source }.beside_the_schema()
    }
}

fn read_tail(file: &dyn ReadAt, start: u64) -> Result<Vec<u8>> {
    let mut tail = vec![0; usize::try_from(file.size().saturating_sub(start)).unwrap_or(usize::MAX)];
    file.read_into(start, &mut tail)?;
    Ok(tail)
}

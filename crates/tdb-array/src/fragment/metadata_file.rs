//! The file of a fragment's metadata, of which the end is kept in memory.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use tdb_fragment::{FragmentError, FragmentFooter, SectionId};
use tdb_storage::{ReadAt, Storage};

use crate::{ArrayError, Result};

/// A `__fragment_metadata.tdb`: an open file and its last bytes, which opening the array has read already. Sections that
/// lie in them, all of a small fragment, cost no further read.
#[derive(Debug)]
pub(super) struct MetadataFile {
    file: Arc<dyn ReadAt>,
    path: String,
    tail: Vec<u8>,
    /// Where the sections end and the footer begins.
    pub(super) footer_start: u64,
}

impl MetadataFile {
    pub(super) fn open(storage: &dyn Storage, path: &str) -> Result<Self> {
        let file = storage.open(path)?;
        let footer_start = file.size();
        Ok(Self { file, path: storage.describe(path), tail: Vec::new(), footer_start })
    }

    pub(super) fn size(&self) -> u64 {
        self.file.size()
    }

    /// The path for messages.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The bytes at the end of the file that are in memory.
    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// Brings the end of the file, from `start` on, into memory.
    pub(super) fn read_tail(&mut self, start: u64) -> Result<()> {
        let mut tail = vec![0; usize::try_from(self.size().saturating_sub(start)).unwrap_or(usize::MAX)];
        self.file.read_into(start, &mut tail)?;
        self.tail = tail;
        Ok(())
    }

    /// Bytes of the file, from memory if they are there.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        let tail_start = self.size() - self.tail.len() as u64;
        if let (Some(start), Some(end)) = (range.start.checked_sub(tail_start), range.end.checked_sub(tail_start))
            && let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end))
            && let Some(bytes) = self.tail.get(start..end)
        {
            return Ok(Cow::Borrowed(bytes));
        }
        // Ranges come from a footer that was checked against the file's size.
        let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX)];
        self.file.read_into(range.start, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Reads a section and lets `parse` make something of it.
    pub(super) fn section<T>(
        &self,
        footer: &FragmentFooter,
        id: SectionId,
        parse: impl FnOnce(&[u8]) -> Result<T, FragmentError>,
    ) -> Result<T> {
        let range = footer.section_range(id, self.footer_start).map_err(|source| self.error(source))?;
        let bytes = self.bytes(range)?;
        parse(&bytes).map_err(|source| self.error(source))
    }

    #[cold]
    pub(super) fn error(&self, source: FragmentError) -> ArrayError {
        ArrayError::Fragment { file: self.path.clone(), source }
    }
}

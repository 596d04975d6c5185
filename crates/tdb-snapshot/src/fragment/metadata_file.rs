//! The file of a fragment's metadata, with the tail in memory.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_fragment::{FIRST_READ, FragmentError};
use tdb_storage::{Fetched, ReadAt, Request, Storage, read_range};

use crate::access::Access;
use crate::{ArrayError, Result};

/// The maximum size of the tail kept in memory, in bytes.
pub(super) const MOST_FIRST: u64 = 32 << 10;

/// A file `__fragment_metadata.tdb`. A tail of up to [`MOST_FIRST`] bytes stays in memory, and its
/// sections need no further read. The tail of a small fragment contains all sections. If the footer
/// is from consolidated metadata, the file is opened on demand.
#[derive(Debug)]
pub(super) struct MetadataFile {
    storage: Arc<dyn Storage>,
    /// The path below the array's folder.
    path: String,
    /// The full path, for messages.
    pub(super) described: String,
    /// The maximum size of a single read in bytes: a section, the footer, or the whole file in
    /// formats without footers.
    most: u64,
    open: OnceLock<Open>,
}

#[derive(Debug)]
struct Open {
    file: Arc<dyn ReadAt>,
    /// The size of the file, requested once for consistent bounds.
    size: u64,
    /// The last bytes of the file.
    tail: Vec<u8>,
    /// The end of the sections and start of the footer, if known. Otherwise the size of the file.
    sections_end: u64,
    /// Prefetched sections, each removed on first use.
    sections: Mutex<Vec<(Range<u64>, Vec<u8>)>>,
}

impl MetadataFile {
    /// Creates a handle of the file at `path`. The file is opened on first use.
    pub(super) fn closed(storage: Arc<dyn Storage>, path: String, access: &Access) -> Self {
        let described = storage.describe(&path);
        Self { storage, path, described, most: access.most_stored(), open: OnceLock::new() }
    }

    /// Opens the file and reads the tail: the whole file, or enough bytes for most footers.
    pub(super) fn open(mut self, whole: bool) -> Result<Self> {
        let request = match whole {
            true => Request::all(self.path.clone(), self.most),
            false => Request::last(self.path.clone(), self.first_read()),
        };
        let Fetched { file, bytes: tail, .. } = self.storage.fetch_one(&request)?;
        let size = file.size();
        self.open = OnceLock::from(Open { file, size, tail, sections_end: size, sections: Mutex::default() });
        Ok(self)
    }

    /// Returns the size of the first read at the end of the file. On a remote storage a larger read
    /// costs no more, and includes sections too.
    fn first_read(&self) -> u64 {
        let profile = self.storage.profile();
        if profile.is_remote() { profile.gap.clamp(FIRST_READ, MOST_FIRST) } else { FIRST_READ }
    }

    fn opened(&self) -> Result<&Open> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let (file, tail) = if self.storage.profile().is_remote() {
            let fetched = self.storage.fetch_one(&Request::last(self.path.clone(), self.first_read()))?;
            (fetched.file, fetched.bytes)
        } else {
            let file = self.storage.open(&self.path)?;
            // In a larger file, the tail may not contain the required sections.
            let tail = if file.size() <= FIRST_READ { self.read(&*file, 0..file.size())? } else { Vec::new() };
            (file, tail)
        };
        let size = file.size();
        // Two threads may both open the file. The first result stays.
        let sections = Mutex::default();
        Ok(self.open.get_or_init(|| Open { file, size, tail, sections_end: size, sections }))
    }

    /// Reads a range of the file. Fails if the range is longer than `most`, because a damaged file
    /// may state any range.
    fn read(&self, file: &dyn ReadAt, range: Range<u64>) -> Result<Vec<u8>> {
        Ok(read_range(file, range, self.most, || self.described.clone())?)
    }

    pub(super) fn size(&self) -> Result<u64> {
        Ok(self.opened()?.size)
    }

    /// Returns the path below the array's folder, and the size, if the file was opened.
    pub(super) fn if_open(&self) -> Option<(&str, u64)> {
        self.open.get().map(|open| (self.path.as_str(), open.size))
    }

    /// Returns the bytes of the tail in memory.
    pub(super) fn tail(&self) -> &[u8] {
        self.open.get().map_or(&[], |open| &open.tail)
    }

    /// Returns the tail, if it contains the footer.
    pub(super) fn tail_with_footer(&self) -> Option<&[u8]> {
        let open = self.open.get()?;
        let start = open.size.saturating_sub(open.tail.len() as u64);
        (open.sections_end < open.size && start <= open.sections_end).then_some(&open.tail)
    }

    /// Reads the file from `start` to the end into memory.
    pub(super) fn read_tail(&mut self, start: u64) -> Result<()> {
        let open = self.opened()?;
        let tail = self.read(&*open.file, start..open.size)?;
        if let Some(open) = self.open.get_mut() {
            open.tail = tail;
        }
        Ok(())
    }

    /// Returns the end of the sections, or the size of the file if the start of the footer is
    /// unknown.
    pub(super) fn sections_end(&self) -> Result<u64> {
        Ok(self.opened()?.sections_end)
    }

    /// Releases the memory of the tail.
    pub(super) fn forget_tail(&mut self) {
        if let Some(open) = self.open.get_mut() {
            open.tail = Vec::new();
        }
    }

    /// Sets the start of the footer.
    pub(super) fn end_sections_at(&mut self, footer_start: u64) {
        if let Some(open) = self.open.get_mut() {
            open.sections_end = footer_start;
        }
    }

    /// Returns bytes of the file, from memory if possible.
    pub(super) fn bytes(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        let Open { file, size, tail, sections, .. } = self.opened()?;
        let tail_start = size.saturating_sub(tail.len() as u64);
        if let (Some(start), Some(end)) = (range.start.checked_sub(tail_start), range.end.checked_sub(tail_start))
            && let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end))
            && let Some(bytes) = tail.get(start..end)
        {
            return Ok(Cow::Borrowed(bytes));
        }
        if let Ok(mut sections) = sections.lock()
            && let Some(index) = sections.iter().position(|(section, _)| *section == range)
        {
            return Ok(Cow::Owned(sections.swap_remove(index).1));
        }
        Ok(Cow::Owned(self.read(&**file, range)?))
    }

    /// Returns the request to prefetch a range. Returns `None` if the range is in memory or exceeds
    /// the limit.
    pub(super) fn request(&self, range: &Range<u64>) -> Result<Option<Request>> {
        let Open { size, tail, .. } = self.opened()?;
        let is_wanted = range.start < size.saturating_sub(tail.len() as u64)
            && range.end <= *size
            && range.end.saturating_sub(range.start) <= self.most;
        Ok(is_wanted.then(|| Request::range(self.path.clone(), range.clone(), *size)))
    }

    /// Stores a prefetched range.
    pub(super) fn supply(&self, range: Range<u64>, bytes: Vec<u8>) {
        if let Some(open) = self.open.get()
            && let Ok(mut sections) = open.sections.lock()
        {
            sections.push((range, bytes));
        }
    }

    #[cold]
    pub(super) fn error(&self, source: FragmentError) -> ArrayError {
        ArrayError::Fragment { file: self.described.clone(), source }.or_partly_encrypted()
    }
}

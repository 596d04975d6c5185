//! The file of a fragment's metadata, of which the end is kept in memory.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_fragment::{FIRST_READ, FragmentError};
use tdb_storage::{Fetched, ReadAt, Request, Storage, read_range};

use crate::access::Access;
use crate::{ArrayError, Result};

/// Most bytes of a file's end that are kept in memory for the sake of sections.
pub(super) const MOST_FIRST: u64 = 32 << 10;

/// A `__fragment_metadata.tdb`: its last bytes are read once and kept, so that sections that lie in them, all of a small
/// fragment, cost no further read. If the footer came from somewhere else, nobody has opened it yet.
#[derive(Debug)]
pub(super) struct MetadataFile {
    storage: Arc<dyn Storage>,
    /// The path below the array's folder.
    path: String,
    /// The path for messages.
    described: String,
    /// Most bytes of the file that are read at once: those of a section, of the footer, of all in formats without footers.
    most: u64,
    open: OnceLock<Open>,
}

#[derive(Debug)]
struct Open {
    file: Arc<dyn ReadAt>,
    /// Its size, asked for once: everything is measured by the same.
    size: u64,
    /// The end of the file.
    tail: Vec<u8>,
    /// Where the sections end and the footer begins, if that is known, else the file's size.
    sections_end: u64,
    /// Sections that were fetched together, until each is wanted.
    sections: Mutex<Vec<(Range<u64>, Vec<u8>)>>,
}

impl MetadataFile {
    /// The file at `path`, to be opened when somebody wants something of it.
    pub(super) fn closed(storage: Arc<dyn Storage>, path: String, access: &Access) -> Self {
        let described = storage.describe(&path);
        Self { storage, path, described, most: access.most_stored(), open: OnceLock::new() }
    }

    /// The same file, opened, with its last bytes in memory: all, or as many as mostly hold the footer.
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

    /// How many bytes of the file's end are read first: where answers take long, as many as cost no more, for sections lie
    /// there as well.
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
            // Sections of a larger file that are wanted lie anywhere in it.
            let tail = if file.size() <= FIRST_READ { self.read(&*file, 0..file.size())? } else { Vec::new() };
            (file, tail)
        };
        let size = file.size();
        // Two threads may both open it; the first one's stays.
        let sections = Mutex::default();
        Ok(self.open.get_or_init(|| Open { file, size, tail, sections_end: size, sections }))
    }

    /// Reads bytes of the file, which may be many because of what the file says, but not more than are allowed.
    fn read(&self, file: &dyn ReadAt, range: Range<u64>) -> Result<Vec<u8>> {
        Ok(read_range(file, range, self.most, || self.described.clone())?)
    }

    pub(super) fn size(&self) -> Result<u64> {
        Ok(self.opened()?.size)
    }

    /// The path below the array's folder, and the size, if the file was opened.
    pub(super) fn if_open(&self) -> Option<(&str, u64)> {
        self.open.get().map(|open| (self.path.as_str(), open.size))
    }

    /// The path for messages.
    pub(super) fn described(&self) -> &str {
        &self.described
    }

    /// The bytes at the end of the file that are in memory.
    pub(super) fn tail(&self) -> &[u8] {
        self.open.get().map_or(&[], |open| &open.tail)
    }

    /// The same, if the file's footer was found in them.
    pub(super) fn tail_with_footer(&self) -> Option<&[u8]> {
        let open = self.open.get()?;
        let start = open.size.saturating_sub(open.tail.len() as u64);
        (open.sections_end < open.size && start <= open.sections_end).then_some(&open.tail)
    }

    /// Brings the end of the file, from `start` on, into memory.
    pub(super) fn read_tail(&mut self, start: u64) -> Result<()> {
        let open = self.opened()?;
        let tail = self.read(&*open.file, start..open.size)?;
        if let Some(open) = self.open.get_mut() {
            open.tail = tail;
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

    /// What to ask for so that a range of the file will be at hand; `None` if it is already, or is more than is allowed.
    pub(super) fn request(&self, range: &Range<u64>) -> Result<Option<Request>> {
        let Open { size, tail, .. } = self.opened()?;
        let is_wanted = range.start < size.saturating_sub(tail.len() as u64)
            && range.end <= *size
            && range.end.saturating_sub(range.start) <= self.most;
        Ok(is_wanted.then(|| Request::range(self.path.clone(), range.clone(), *size)))
    }

    /// Takes the answer.
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

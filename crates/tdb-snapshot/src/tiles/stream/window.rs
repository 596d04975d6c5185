//! A sliding window over a data file.

use std::ops::Range;

use tdb_storage::{ReadAt, read_behind};

use crate::Result;

/// The maximum number of bytes read ahead: four chunks of the usual length with headers. Few enough
/// to stay in a core's cache until use, and enough to amortize the fixed cost of a read.
const WINDOW: u64 = (256 << 10) + 4096;

/// The bytes of a data file around the current read position.
#[derive(Debug)]
pub(super) struct Window<'a> {
    pub(super) file: &'a dyn ReadAt,
    /// The full path, for messages.
    path: &'a str,
    buffer: &'a mut Vec<u8>,
    start: u64,
    len: usize,
}

impl<'a> Window<'a> {
    pub(super) fn new(file: &'a dyn ReadAt, path: &'a str, buffer: &'a mut Vec<u8>) -> Self {
        Self { file, path, buffer, start: 0, len: 0 }
    }

    /// Returns `true` if the range of the file is in the window.
    pub(super) fn holds(&self, range: &Range<u64>) -> bool {
        self.start <= range.start && range.end <= self.start + self.len as u64
    }

    /// Returns a range of the file. The range must be within the file. Bytes up to `until` are
    /// expected to be requested next.
    pub(super) fn bytes(&mut self, range: Range<u64>, until: u64) -> Result<&[u8]> {
        if !self.holds(&range) {
            self.advance(&range, until)?;
        }
        let start = (range.start - self.start) as usize;
        Ok(&self.buffer[start..start + (range.end - range.start) as usize])
    }

    /// Returns a range of the file, and all bytes after the range in the window.
    pub(super) fn bytes_from(&mut self, range: Range<u64>, until: u64) -> Result<&[u8]> {
        let start = range.start;
        self.bytes(range, until)?;
        Ok(&self.buffer[(start - self.start) as usize..self.len])
    }

    fn advance(&mut self, range: &Range<u64>, until: u64) -> Result<()> {
        let end = self.start + self.len as u64;
        let mut kept = 0;
        if (self.start..end).contains(&range.start) {
            let start = (range.start - self.start) as usize;
            kept = self.len - start;
            self.buffer.copy_within(start..self.len, 0);
        }
        // A storage with a large gap also prefers large reads.
        let most = WINDOW.max(self.file.profile().gap);
        let until = until.min(range.start.saturating_add(most)).min(self.file.size()).max(range.end);
        // Until the read succeeds, the window contains only the kept bytes.
        (self.start, self.len) = (range.start, kept);
        let begin = range.start + kept as u64;
        let path = || self.path.to_owned();
        read_behind(self.file, begin, self.buffer, kept, until.saturating_sub(begin), path)?;
        // The number of bytes in memory fits into `usize`.
        self.len = kept + (until.saturating_sub(begin)) as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tdb_storage::{MemoryStorage, Storage};

    use super::*;

    #[test]
    fn bytes_are_those_of_the_file() {
        let storage = MemoryStorage::new();
        let bytes: Vec<u8> = (0..=255).collect();
        storage.create_new("file", &bytes).unwrap();
        let file = storage.open("file").unwrap();
        let mut buffer = Vec::new();
        let mut window = Window::new(&*file, "file", &mut buffer);
        for (start, end, until) in [(0, 8, 8), (8, 20, 100), (50, 120, 120), (115, 119, 0), (118, 256, 999), (0, 3, 0)]
        {
            assert_eq!(window.bytes(start..end, until).unwrap(), &bytes[start as usize..end as usize]);
            let all = window.bytes_from(start..end, until).unwrap();
            assert!(all.len() >= (end - start) as usize && bytes[start as usize..].starts_with(all));
        }
        assert!(window.bytes(250..257, 0).is_err());
        assert_eq!(window.bytes(250..256, 0).unwrap(), &bytes[250..]);
    }
}

//! The files of a Zarr array, read as far as they really go.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs::storage::{Bytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};

use crate::files;

/// A folder. Nothing is allocated because a number in a file says so.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// Parts of files aren't read that are longer.
    limit: u64,
}

impl Folder {
    pub(crate) fn new(root: &Path, limit: u64) -> Self {
        Self { root: root.to_owned(), limit }
    }

    fn open(&self, key: &StoreKey) -> io::Result<Option<(File, u64)>> {
        files::open(&self.root.join(key.as_str()))
    }

    fn part(&self, file: &mut File, size: u64, range: ByteRange) -> io::Result<Bytes> {
        let outside = || io::Error::new(ErrorKind::InvalidData, format!("{range} lies outside of {size} bytes"));
        let (start, len) = match range {
            ByteRange::FromStart(start, len) => (start, len.or_else(|| size.checked_sub(start))),
            ByteRange::Suffix(len) => (size.checked_sub(len).ok_or_else(outside)?, Some(len)),
        };
        let len = len.filter(|len| start.checked_add(*len).is_some_and(|end| end <= size)).ok_or_else(outside)?;
        if len > self.limit {
            let why = format!("{len} bytes are more than the {} that a chunk may have", self.limit);
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(len).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == len { Ok(bytes.into()) } else { Err(outside()) }
    }
}

impl ReadableStorageTraits for Folder {
    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        byte_ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some((mut file, size)) = self.open(key)? else { return Ok(None) };
        Ok(Some(Box::new(byte_ranges.map(move |range| Ok(self.part(&mut file, size, range)?)))))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.open(key)?.map(|(_, size)| size))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

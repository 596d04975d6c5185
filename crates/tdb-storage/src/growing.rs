//! Reads into memory that grows with the bytes actually read.
//!
//! File sizes reported by a storage, and ranges found in files, are not trusted for allocation. A
//! large read proceeds in steps, each at most as large as all previous steps together.

use std::ops::Range;

use crate::file::check_end;
use crate::{ReadAt, Result, StorageError};

/// Maximum size of the first step of a read, in bytes. Most ranges fit in a single step.
const STEP: usize = 4 << 20;

/// Reads a range of a file, of at most `limit` bytes. `path` names the file in errors.
///
/// ```
/// use tdb_storage::{MemoryStorage, Storage, StorageError, read_range};
///
/// let storage = MemoryStorage::new();
/// storage.create_new("f", b"0123456789")?;
/// let file = storage.open("f")?;
/// let path = || storage.describe("f");
/// assert_eq!(read_range(&*file, 2..5, 8, path)?, b"234");
/// assert!(matches!(read_range(&*file, 0..10, 8, path), Err(StorageError::RangeOverLimit { need: 10, .. })));
/// assert!(matches!(read_range(&*file, 0..1 << 40, u64::MAX, path), Err(StorageError::UnexpectedEnd { .. })));
/// # Ok::<(), StorageError>(())
/// ```
///
/// # Errors
/// [`RangeOverLimit`](StorageError::RangeOverLimit), [`TooLarge`](StorageError::TooLarge) if the
/// memory cannot be allocated, and the errors of [`ReadAt::read_into`].
pub fn read_range(file: &dyn ReadAt, range: Range<u64>, limit: u64, path: impl Fn() -> String) -> Result<Vec<u8>> {
    let need = range.end.saturating_sub(range.start);
    if need > limit {
        return Err(StorageError::RangeOverLimit { path: path(), offset: range.start, need, limit });
    }
    let mut bytes = Vec::new();
    read_behind(file, range.start, &mut bytes, 0, need, path)?;
    Ok(bytes)
}

/// Reads `len` bytes of a file, from `offset` on, into a buffer after the first `kept` bytes.
///
/// The buffer grows if necessary but never shrinks. After an error, the bytes after the first
/// `kept` are unspecified.
///
/// # Errors
/// [`TooLarge`](StorageError::TooLarge) if the memory cannot be allocated, and the errors of
/// [`ReadAt::read_into`].
pub fn read_behind(
    file: &dyn ReadAt,
    offset: u64,
    buffer: &mut Vec<u8>,
    kept: usize,
    len: u64,
    path: impl Fn() -> String,
) -> Result<()> {
    let end = usize::try_from(len).ok().and_then(|len| kept.checked_add(len));
    let Some(end) = end else { return Err(StorageError::TooLarge { path: path(), size: len }) };
    if end > buffer.len() {
        // Detects most excessive lengths before any allocation.
        check_end(file.size(), offset, end - kept, &path)?;
    }
    let mut done = kept;
    while done < end {
        if buffer.len() < end {
            let grown = buffer.len().max(done.saturating_add((done - kept).max(STEP))).min(end);
            if buffer.try_reserve_exact(grown - buffer.len()).is_err() {
                return Err(StorageError::TooLarge { path: path(), size: len });
            }
            buffer.resize(grown, 0);
        }
        let to = buffer.len().min(end);
        file.read_into(offset.saturating_add((done - kept) as u64), &mut buffer[done..to])?;
        done = to;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A file smaller than the reported size. Each byte is derived from the offset.
    #[derive(Debug, Default)]
    struct Claims {
        real: u64,
        reads: Mutex<Vec<(u64, usize)>>,
    }

    impl ReadAt for Claims {
        fn size(&self) -> u64 {
            u64::MAX
        }

        fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            self.reads.lock().unwrap().push((offset, buffer.len()));
            crate::file::check_end(self.real, offset, buffer.len(), || "f".to_owned())?;
            buffer.iter_mut().zip(offset..).for_each(|(byte, place)| *byte = (place % 251) as u8);
            Ok(())
        }

        fn profile(&self) -> crate::ReadProfile {
            crate::ReadProfile::LOCAL
        }
    }

    fn path() -> String {
        "f".to_owned()
    }

    #[test]
    fn memory_grows_with_the_bytes_read() {
        let file = Claims { real: 10 << 20, ..Claims::default() };
        let mut buffer = Vec::new();
        let error = read_behind(&file, 0, &mut buffer, 0, 1 << 40, path).unwrap_err();
        assert!(matches!(error, StorageError::UnexpectedEnd { .. }), "{error}");
        assert!(buffer.capacity() <= 16 << 20, "{}", buffer.capacity());
        assert!(matches!(read_range(&file, 0..u64::MAX, u64::MAX, path), Err(StorageError::UnexpectedEnd { .. })));
        let error = read_behind(&file, 0, &mut vec![0; 8], 8, u64::MAX, path).unwrap_err();
        assert!(matches!(error, StorageError::TooLarge { .. }), "{error}");
    }

    #[test]
    fn ordinary_ranges_take_one_read() {
        let file = Claims { real: 10 << 20, ..Claims::default() };
        let bytes = read_range(&file, 7..7 + (4 << 20), 4 << 20, path).unwrap();
        assert_eq!(*file.reads.lock().unwrap(), [(7, 4 << 20)]);
        assert!(bytes.iter().zip(7_u64..).all(|(byte, place)| *byte == (place % 251) as u8));
        // A read within the buffer also takes a single call.
        let mut buffer = vec![9; 9 << 20];
        read_behind(&file, 0, &mut buffer, 3, 8 << 20, path).unwrap();
        assert_eq!(file.reads.lock().unwrap()[1..], [(0, 8 << 20)]);
        assert_eq!((&buffer[..5], buffer.len()), (&[9, 9, 9, 0, 1][..], 9 << 20));
        assert!(read_range(&file, 5..5, 0, path).unwrap().is_empty());
    }

    #[test]
    fn each_step_doubles_the_bytes_read() {
        let file = Claims { real: 30 << 20, ..Claims::default() };
        let mut buffer = vec![1; 10];
        read_behind(&file, 99, &mut buffer, 10, 21 << 20, path).unwrap();
        assert_eq!(buffer.len(), 10 + (21 << 20));
        assert!(buffer[10..].iter().zip(99_u64..).all(|(byte, place)| *byte == (place % 251) as u8));
        let lens: Vec<usize> = file.reads.lock().unwrap().iter().map(|(_, len)| *len >> 20).collect();
        assert_eq!(lens, [4, 4, 8, 5]);
    }

    #[test]
    fn ranges_over_the_limit_are_not_read() {
        let file = Claims { real: 100, ..Claims::default() };
        let error = read_range(&file, 10..60, 49, path).unwrap_err();
        assert_eq!(error.to_string(), "f: range of 50 bytes at 0xa exceeds the limit of 49");
        assert!(file.reads.lock().unwrap().is_empty());
    }
}

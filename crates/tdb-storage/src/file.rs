//! Open files.

use std::fmt;

use crate::{ReadProfile, Result, StorageError};

/// An open file for reads at any position, shared between threads.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// Returns the file's size in bytes at the time of opening, or the size passed to
    /// [`Storage::open_sized`](crate::Storage::open_sized). Files of an array are immutable.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](StorageError::UnexpectedEnd) if the file is too short, and other I/O
    /// errors. After an error, the content of the buffer is unspecified.
    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Returns the read profile of the file's storage.
    fn profile(&self) -> ReadProfile;
}

/// A file being written sequentially.
///
/// Dropping it without [`finish`](Self::finish) removes the file if possible.
pub trait WriteFile: Send + fmt::Debug {
    /// Appends bytes, which are not durable yet.
    ///
    /// # Errors
    /// I/O errors, such as a full disk, and [`TooLarge`](StorageError::TooLarge) if memory is
    /// exhausted. The file is then unusable and must be dropped.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Closes the file and makes its bytes durable. To make its name durable, use
    /// [`Storage::sync_folder`](crate::Storage::sync_folder).
    ///
    /// # Errors
    /// I/O errors, and [`NotFound`](StorageError::NotFound) if the storage detects that the file
    /// was deleted. The file is then removed if possible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Checks that `need` bytes at `offset` fit in a file of `size` bytes.
pub(crate) fn check_end(size: u64, offset: u64, need: usize, path: impl FnOnce() -> String) -> Result<()> {
    let need = need as u64;
    match offset.checked_add(need) {
        Some(end) if end <= size => Ok(()),
        _ => Err(StorageError::UnexpectedEnd { path: path(), offset, need, size }),
    }
}

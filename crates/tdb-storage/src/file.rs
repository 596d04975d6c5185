//! Open files.

use std::fmt;

use crate::{ReadProfile, Result, StorageError};

/// An open file, for reads at any position, shared by any number of threads.
pub trait ReadAt: Send + Sync + fmt::Debug {
    /// The file's size in bytes when it was opened. Files of an array never change once written.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// [`UnexpectedEnd`](StorageError::UnexpectedEnd) if the file has fewer; then the buffer's content is unspecified.
    fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// How the file's storage likes to be asked.
    fn profile(&self) -> ReadProfile;
}

/// A file that is being written, from its beginning to its end.
///
/// Dropped without [`finish`](Self::finish), it is removed, as far as that is possible then.
pub trait WriteFile: Send + fmt::Debug {
    /// Puts bytes behind those already there. They are not durable yet.
    ///
    /// # Errors
    /// I/O: the disk is full, say. Then the file is of no use any more: drop it.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Closes the file. When this returns, its bytes are durable; see [`Storage::sync_folder`](crate::Storage::sync_folder) for its name.
    ///
    /// # Errors
    /// I/O. Then the file is removed, as far as that is possible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Checks that `need` bytes at `offset` lie in a file of `size` bytes.
pub(crate) fn check_end(size: u64, offset: u64, need: usize, path: impl FnOnce() -> String) -> Result<()> {
    let need = need as u64;
    match offset.checked_add(need) {
        Some(end) if end <= size => Ok(()),
        _ => Err(StorageError::UnexpectedEnd { path: path(), offset, need, size }),
    }
}

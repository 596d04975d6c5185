//! Access to untrusted files and folders.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Opens a file, and returns its size. Returns `None` if the file does not exist. Rejects pipes and
/// devices, which may never end or respond.
///
/// # Errors
/// The file cannot be opened, or is no regular file.
pub(crate) fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a regular file"));
    }
    Ok(Some((File::open(path)?, metadata.len())))
}

/// Reads a file. Returns `None` if the file does not exist.
///
/// # Errors
/// The file is unreadable, or larger than `limit`.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    read_from(file, 0..size, size, limit).map(Some)
}

/// Reads a part of a file. Returns `None` if the file does not exist.
///
/// # Errors
/// The file is unreadable or too short, or the part is larger than `limit`.
pub(crate) fn read_part(path: &Path, part: Range<u64>, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    read_from(file, part, size, limit).map(Some)
}

/// Reads a part. Memory grows with the actual input.
fn read_from(mut file: File, part: Range<u64>, size: u64, limit: u64) -> io::Result<Vec<u8>> {
    let invalid = |why: String| io::Error::new(ErrorKind::InvalidData, why);
    let len = part.end.saturating_sub(part.start);
    if len > limit {
        return Err(invalid(format!("{len} bytes exceed the limit of {limit}")));
    }
    if part.start > 0 {
        file.seek(SeekFrom::Start(part.start))?;
    }
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len {
        return Ok(bytes);
    }
    Err(invalid(format!("bytes {} to {} are outside of the file of {size} bytes", part.start, part.end)))
}

/// The folders reached by symbolic links.
///
/// Links may form cycles, and two links per folder multiply without end. Each folder may therefore
/// be reached by at most one link.
#[derive(Debug, Default)]
pub(crate) struct Links {
    reached: HashSet<PathBuf>,
}

impl Links {
    /// Records a folder, if it is a link.
    ///
    /// # Errors
    /// The link is dangling, or another link leads to the same folder.
    pub(crate) fn follow(&mut self, folder: &Path) -> Result<()> {
        if !folder.symlink_metadata().map_err(Error::io(folder))?.is_symlink() {
            return Ok(());
        }
        let end = fs::canonicalize(folder).map_err(Error::io(folder))?;
        match self.reached.insert(end) {
            true => Ok(()),
            false => Err(Error::unsupported(folder, "another link leads to the same folder")),
        }
    }
}

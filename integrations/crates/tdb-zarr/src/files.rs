//! Files and folders that strangers may have made.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Opens a file, and says how long it is; nothing if it isn't there. A pipe or a device, which may never end or never answer, is an error.
///
/// # Errors
/// It can't be opened, or is no file.
pub(crate) fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is no file"));
    }
    Ok(Some((File::open(path)?, metadata.len())))
}

/// All bytes of a file; nothing if it isn't there.
///
/// # Errors
/// It can't be read, or has more bytes than `limit`.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    read_from(file, 0..size, size, limit).map(Some)
}

/// A part of a file; nothing if the file isn't there.
///
/// # Errors
/// It can't be read, has more bytes than `limit`, or the file is shorter.
pub(crate) fn read_part(path: &Path, part: Range<u64>, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    read_from(file, part, size, limit).map(Some)
}

/// Memory grows with what is really there.
fn read_from(mut file: File, part: Range<u64>, size: u64, limit: u64) -> io::Result<Vec<u8>> {
    let invalid = |why: String| io::Error::new(ErrorKind::InvalidData, why);
    let len = part.end.saturating_sub(part.start);
    if len > limit {
        return Err(invalid(format!("{len} bytes are more than the {limit} that there may be")));
    }
    if part.start > 0 {
        file.seek(SeekFrom::Start(part.start))?;
    }
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len {
        return Ok(bytes);
    }
    Err(invalid(format!("bytes {} to {} lie outside of its {size}", part.start, part.end)))
}

/// The folders that links have led to.
///
/// Links may lead back, and two of them in each folder to ever more of the same. So each folder is reached by one of them at most.
#[derive(Debug, Default)]
pub(crate) struct Links {
    reached: HashSet<PathBuf>,
}

impl Links {
    /// Takes note of a folder, if it is a link.
    ///
    /// # Errors
    /// Another link has led to the same, or it leads nowhere.
    pub(crate) fn follow(&mut self, folder: &Path) -> Result<()> {
        if !folder.symlink_metadata().map_err(Error::io(folder))?.is_symlink() {
            return Ok(());
        }
        let end = fs::canonicalize(folder).map_err(Error::io(folder))?;
        match self.reached.insert(end) {
            true => Ok(()),
            false => Err(Error::unsupported(folder, "another link has led to the same folder")),
        }
    }
}

//! Files and folders that strangers may have made.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
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

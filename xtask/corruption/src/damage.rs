//! What becomes of the files of one fixture.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Files that aren't as they were.
#[derive(Clone, Debug)]
pub struct Damage {
    /// The file or folder that it is about.
    pub path: String,
    /// What happened to it, for people.
    pub what: String,
    /// The files as they are then; nothing for those that are gone.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// Whether `path` is a folder that is gone with all its files.
    pub is_folder: bool,
}

impl Damage {
    /// A file with these bytes; nothing if it is gone.
    pub(crate) fn of_file(path: &str, what: impl fmt::Display, bytes: Option<Vec<u8>>) -> Self {
        let files = vec![(path.to_owned(), bytes)];
        Self { path: path.to_owned(), what: what.to_string(), files, is_folder: false }
    }

    /// Damages a copy of the fixture that lies in a local folder.
    ///
    /// # Errors
    /// A file can't be written or removed.
    pub fn apply_to(&self, folder: &Path) -> io::Result<()> {
        for (path, bytes) in &self.files {
            match bytes {
                Some(bytes) => fs::write(folder.join(path), bytes)?,
                None => fs::remove_file(folder.join(path))?,
            }
        }
        if self.is_folder { fs::remove_dir_all(folder.join(&self.path)) } else { Ok(()) }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

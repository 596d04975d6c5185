//! Damage to the files of a fixture.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Damaged files.
#[derive(Clone, Debug)]
pub struct Damage {
    /// The damaged file or folder.
    pub path: String,
    /// Description of the damage for people.
    pub what: String,
    /// Paths and new contents of the files. `None` for deleted files.
    pub files: Vec<(String, Option<Vec<u8>>)>,
    /// `true` if `path` is a folder, deleted with all files.
    pub is_folder: bool,
}

impl Damage {
    /// Damages a file. `bytes` are the new contents, or `None` if the file is deleted.
    pub(crate) fn of_file(path: &str, what: impl fmt::Display, bytes: Option<Vec<u8>>) -> Self {
        let files = vec![(path.to_owned(), bytes)];
        Self { path: path.to_owned(), what: what.to_string(), files, is_folder: false }
    }

    /// Damages a copy of the fixture in a local folder.
    ///
    /// # Errors
    /// Fails if a file cannot be written or removed.
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

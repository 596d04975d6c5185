//! Atomic creation of folders.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::node::METADATA;
use crate::object::{self, Attributes};

/// A folder that is created under a temporary name. Dropping this value before
/// [`finish`](NewFolder::finish) removes the folder.
pub(crate) struct NewFolder {
    target: PathBuf,
    beside: TempDir,
}

impl NewFolder {
    /// Creates the temporary folder.
    ///
    /// # Errors
    /// The target exists, or its parent is not writable.
    pub(crate) fn new(target: &Path) -> Result<Self> {
        check_free(target)?;
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let beside = tempfile::Builder::new().prefix(".tdb-unfinished-").tempdir_in(parent);
        let beside = beside.map_err(Error::io(parent))?;
        let folder = Self { target: target.to_owned(), beside };
        fs::create_dir(folder.path()).map_err(Error::io(&folder.path()))?;
        Ok(folder)
    }

    /// Returns the path of the temporary folder.
    pub(crate) fn path(&self) -> PathBuf {
        self.beside.path().join("new")
    }

    /// Renames the folder to the target.
    ///
    /// # Errors
    /// The target was created meanwhile, or renaming fails.
    pub(crate) fn finish(self) -> Result<()> {
        check_free(&self.target)?;
        fs::rename(self.path(), &self.target).map_err(Error::io(&self.target))
    }
}

fn check_free(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) => Err(Error::AlreadyThere { path: path.to_owned() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io(path)(error)),
    }
}

/// Writes the metadata of an array or group.
///
/// # Errors
/// The file cannot be written, or exceeds the limit for reading.
pub(crate) fn write_metadata(folder: &Path, metadata: &Value) -> Result<()> {
    let path = folder.join(METADATA);
    let text = format!("{metadata:#}\n");
    object::check(&text).map_err(|why| Error::refused(METADATA, why))?;
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    fs::write(&path, text).map_err(Error::io(&path))
}

/// Returns the metadata of a group.
pub(crate) fn group_metadata(attributes: &Attributes) -> Value {
    serde_json::json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes })
}

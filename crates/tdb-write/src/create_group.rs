//! Creation of groups.

use std::path::Path;
use std::sync::Arc;

use tdb_snapshot::Result;
use tdb_storage::{LocalStorage, Storage};
use tdb_types::names::{GROUP_FOLDER, GROUP_MARKER, METADATA_FOLDER};

use crate::CreateOptions;
use crate::create::check_free;
use crate::files::NewFiles;

impl CreateOptions {
    /// Creates an empty group in the folder `path`, which need not exist.
    ///
    /// # Errors
    /// [`ArrayError::AlreadyThere`](tdb_snapshot::ArrayError::AlreadyThere) if the folder is an
    /// array or a group. Also fails if the storage fails. Created files are then removed as far as
    /// possible.
    pub fn create_group(&self, path: impl AsRef<Path>) -> Result<()> {
        self.create_group_on(&(Arc::new(LocalStorage::new(path.as_ref())) as _))
    }

    /// Creates an empty group at the root of a storage.
    ///
    /// # Errors
    /// See [`create_group`](Self::create_group).
    pub fn create_group_on(&self, storage: &Arc<dyn Storage>) -> Result<()> {
        check_free(&**storage)?;
        let mut files = NewFiles::new(storage);
        files.folder("")?;
        files.folder(METADATA_FOLDER)?;
        files.folder(GROUP_FOLDER)?;
        // The folder alone identifies a group, and so does the marker.
        if !storage.exists(GROUP_MARKER)? {
            files.file(GROUP_MARKER, &[])?;
        }
        files.keep();
        Ok(())
    }
}

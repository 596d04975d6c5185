//! Making groups.

use std::path::Path;
use std::sync::Arc;

use tdb_snapshot::Result;
use tdb_storage::{LocalStorage, Storage};
use tdb_types::names::{GROUP_FOLDER, GROUP_MARKER, METADATA_FOLDER};

use crate::CreateOptions;
use crate::create::check_free;
use crate::files::NewFiles;

impl CreateOptions {
    /// Makes an empty group in the folder `path`, which need not be there.
    ///
    /// # Errors
    /// [`ArrayError::AlreadyThere`](tdb_snapshot::ArrayError::AlreadyThere) if the folder is an array or a group; whatever the storage can't do.
    pub fn create_group(&self, path: impl AsRef<Path>) -> Result<()> {
        self.create_group_on(&(Arc::new(LocalStorage::new(path.as_ref())) as _))
    }

    /// Makes an empty group at the root of a storage.
    ///
    /// # Errors
    /// As [`create_group`](Self::create_group).
    pub fn create_group_on(&self, storage: &Arc<dyn Storage>) -> Result<()> {
        check_free(&**storage)?;
        let mut files = NewFiles::new(storage);
        files.folder("")?;
        files.folder(METADATA_FOLDER)?;
        files.folder(GROUP_FOLDER)?;
        // Either folder or marker makes it a group.
        if !storage.exists(GROUP_MARKER)? {
            files.file(GROUP_MARKER, &[])?;
        }
        files.keep();
        Ok(())
    }
}

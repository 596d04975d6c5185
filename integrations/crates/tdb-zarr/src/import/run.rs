//! What a folder of Zarr holds, as what it becomes.

use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_storage::{LocalStorage, Storage};

use super::{Import, Imported, array, group};
use crate::error::{Error, Result};
use crate::files::Links;
use crate::new_folder::NewFolder;
use crate::node::Node;

impl Import {
    /// Makes an array or a group of what is in a folder of Zarr, in a folder that isn't there yet: there as a whole in the end, or not
    /// at all.
    ///
    /// # Errors
    /// An array can't hold what is in Zarr; the new folder is there, or can't be written.
    pub fn to_folder(&self, zarr: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<Imported> {
        let folder = NewFolder::new(target.as_ref())?;
        let imported = self.to_storage(zarr, &(Arc::new(LocalStorage::new(folder.path())) as _))?;
        folder.finish()?;
        Ok(imported)
    }

    /// The same at the root of a storage, where nothing is. What was made stays if something goes wrong.
    ///
    /// # Errors
    /// As [`to_folder`](Self::to_folder).
    pub fn to_storage(&self, zarr: impl AsRef<Path>, storage: &Arc<dyn Storage>) -> Result<Imported> {
        let path = zarr.as_ref();
        let mut imported = Imported::default();
        match Node::read(path)? {
            None => return Err(Error::NotZarr { path: path.to_owned() }),
            Some(Node::Array(node)) => array::import(self, *node, storage, &mut imported)?,
            Some(Node::Group(attributes)) => {
                group::import(self, path, attributes, storage, &mut imported, (0, &mut Links::default()))?;
            }
        }
        Ok(imported)
    }
}

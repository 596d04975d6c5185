//! Entry points of an import.

use std::path::Path;
use std::sync::Arc;

use tdb_array::tdb_storage::{LocalStorage, Storage};

use super::{Import, Imported, array, group};
use crate::error::{Error, Result};
use crate::files::Links;
use crate::new_folder::NewFolder;
use crate::node::Node;

impl Import {
    /// Imports a Zarr folder to a new folder, as an array or a group. The new folder appears
    /// atomically.
    ///
    /// # Errors
    /// - [`Error::NotZarr`]: the folder is neither a Zarr array nor a Zarr group.
    /// - [`Error::Metadata`], [`Error::Chunk`] or [`Error::Shard`]: the Zarr data is unreadable.
    /// - [`Error::Unsupported`] or [`Error::Cell`]: an array cannot hold the Zarr data.
    /// - [`Error::AlreadyThere`]: the new folder exists.
    /// - [`Error::Stopped`]: the observer returned `false`.
    /// - The array or group cannot be written.
    pub fn to_folder(&self, zarr: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<Imported> {
        let folder = NewFolder::new(target.as_ref())?;
        let imported = self.to_storage(zarr, &(Arc::new(LocalStorage::new(folder.path())) as _))?;
        folder.finish()?;
        Ok(imported)
    }

    /// Imports a Zarr folder to the root of an empty storage. Errors leave a partial result behind.
    ///
    /// # Errors
    /// As for [`to_folder`](Self::to_folder).
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

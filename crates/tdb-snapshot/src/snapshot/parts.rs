//! The single parts of an array's folder, for verification.

use std::sync::Arc;

use tdb_schema::{ArraySchema, Enumeration, EnumerationRef, SchemaError};
use tdb_types::names::{ENUMERATIONS_FOLDER, SCHEMA_FOLDER};

use super::Snapshot;
use super::deletes::Left;
use super::fragments::Loaded;
use super::schema_file::load_schema;
use crate::damage::Damaged;
use crate::{ArrayError, Fragment, Result};

impl Snapshot {
    /// Returns the paths of all schemas below the array's folder, oldest first.
    #[must_use]
    pub fn schema_paths(&self) -> &[String] {
        &self.inner.schema_paths
    }

    /// Reads the schema at one of the [`schema_paths`](Self::schema_paths).
    ///
    /// # Errors
    /// The schema cannot be read.
    pub fn schema_at(&self, path: &str) -> Result<Arc<ArraySchema>> {
        let schema = load_schema(&**self.storage(), path, self.access()).map_err(ArrayError::or_partly_encrypted)?;
        Ok(Arc::new(schema))
    }

    /// Reads an enumeration referenced by a schema of the array.
    ///
    /// # Errors
    /// The enumeration's file cannot be read.
    pub fn read_enumeration(&self, reference: &EnumerationRef) -> Result<Enumeration> {
        let file = format!("{SCHEMA_FOLDER}/{ENUMERATIONS_FOLDER}/{}", reference.file_name);
        let bytes = self.access().read(&**self.storage(), &file)?;
        let tile = self.access().decoder().decode_file(&bytes, None).map_err(SchemaError::from);
        tile.and_then(|tile| Enumeration::parse_tile(&tile, None))
            .map_err(|source| ArrayError::Schema { file: self.storage().describe(&file), source })
    }

    /// Returns the delete commits that cannot be applied, with the errors.
    #[must_use]
    pub fn damaged_deletes(&self) -> Vec<Damaged> {
        let damaged = |path: &String| {
            let loaded = self.load_delete(path, &mut Left::of(self.limits()));
            let bound = loaded.and_then(|delete| match delete.bind(self.schema(), self.schema()) {
                Ok(_) => Ok(()),
                Err(source) => Err(self.delete_error(path, source)),
            });
            Some(Damaged { path: path.clone(), error: bound.err()? })
        };
        self.directory().deletes.iter().filter_map(damaged).collect()
    }

    /// Returns the superseded fragments, oldest first, and the damaged fragments among them. A
    /// vacuum would remove the superseded fragments.
    ///
    /// # Errors
    /// A fragment is damaged, and the array was opened without
    /// [`Options::skip_damaged`](crate::Options::skip_damaged).
    pub fn superseded_fragments(&self) -> Result<(Vec<Fragment>, Vec<Damaged>)> {
        let Loaded { fragments, damaged } = Loaded::of_entries(self, &self.inner.directory.replaced)?;
        Ok((fragments, damaged))
    }
}

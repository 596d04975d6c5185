//! An array, open at a time.

mod deletes;
mod load;
mod options;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tdb_rtree::NdRange;
use tdb_schema::{ArraySchema, Enumeration, SchemaError};
use tdb_storage::Storage;
use tdb_types::Limits;

pub(crate) use deletes::refuse_unapplied_deletes;
pub use options::ArrayOptions;

use crate::access::Access;
use crate::directory::ENUMERATIONS_FOLDER;
use crate::workers::Workers;
use crate::{ArrayDirectory, ArrayError, Fragment, Query, Result, TimeRange};

/// An array as it was at one time: its schema and its committed fragments.
///
/// It is an immutable snapshot, cheap to clone and to share between threads. Nothing that a query doesn't need has been
/// read: R-trees, tile offsets and statistics are loaded on first use and kept.
#[derive(Clone, Debug)]
pub struct Array {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    storage: Arc<dyn Storage>,
    access: Access,
    workers: Workers,
    time: TimeRange,
    schema_path: String,
    schema: Arc<ArraySchema>,
    directory: ArrayDirectory,
    fragments: Vec<Fragment>,
    enumerations: Mutex<HashMap<String, Arc<Enumeration>>>,
}

impl Array {
    /// Opens the array in the folder `path` as it is now; see [`ArrayOptions`] for more to say.
    ///
    /// # Errors
    /// The folder is missing or no array, or its schema or the metadata of a fragment can't be read.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        ArrayOptions::new().open(path)
    }

    /// The schema that counts at the time of opening.
    #[must_use]
    pub fn schema(&self) -> &Arc<ArraySchema> {
        &self.inner.schema
    }

    /// The path of the schema's file below the array's folder.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.inner.schema_path
    }

    /// The committed fragments, oldest first; where they overlap, the later one wins.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        &self.inner.fragments
    }

    /// What of the array's files counts.
    #[must_use]
    pub fn directory(&self) -> &ArrayDirectory {
        &self.inner.directory
    }

    /// The range of time that was opened.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.inner.time
    }

    /// Where the array's bytes live.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.inner.storage
    }

    /// The bounds on what the array's files may make a reader allocate.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.access.limits
    }

    pub(crate) fn workers(&self) -> &Workers {
        &self.inner.workers
    }

    /// Starts a query.
    pub fn read(&self) -> Query {
        Query::new(self.clone())
    }

    /// The smallest box that holds every cell that was ever written; none if nothing was.
    #[must_use]
    pub fn non_empty_domain(&self) -> Option<NdRange> {
        let mut boxes = self.fragments().iter().filter_map(Fragment::non_empty_domain);
        let mut union = boxes.next()?.clone();
        boxes.for_each(|next| union.expand(next));
        Some(union)
    }

    /// The enumeration called `name`, loaded on first use.
    ///
    /// # Errors
    /// The schema has no such enumeration, or its file can't be read.
    pub fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>> {
        if let Ok(loaded) = self.inner.enumerations.lock()
            && let Some(enumeration) = loaded.get(name)
        {
            return Ok(enumeration.clone());
        }
        let known = self.schema().enumerations();
        let Some(reference) = known.iter().find(|reference| reference.name == name) else {
            let known = known.iter().map(|reference| reference.name.clone()).collect();
            return Err(ArrayError::UnknownField { name: name.to_owned(), known });
        };
        let file = format!("{ENUMERATIONS_FOLDER}/{}", reference.file_name);
        let bytes = self.inner.storage.read(&file)?;
        let tile = self.inner.access.decoder().decode_file(&bytes, None).map_err(SchemaError::from);
        let enumeration = tile
            .and_then(|tile| Enumeration::parse_tile(&tile, None))
            .map_err(|source| ArrayError::Schema { file: self.inner.storage.describe(&file), source })?;
        let enumeration = Arc::new(enumeration);
        if let Ok(mut loaded) = self.inner.enumerations.lock() {
            loaded.insert(name.to_owned(), enumeration.clone());
        }
        Ok(enumeration)
    }
}

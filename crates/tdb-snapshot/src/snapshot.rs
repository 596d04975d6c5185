//! An array opened at a point in time.

mod again;
mod deletes;
mod early;
mod footers;
mod fragments;
mod load;
mod options;
mod parts;
mod pinned;
mod restricted;
mod schema_file;
mod seen;
mod soundness;
mod tile_workers;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, OnceLock};

use tdb_cells::{Coordinate, Monitor, Watch, Workers};
use tdb_rtree::NdRange;
use tdb_schema::{ArraySchema, Enumeration};
use tdb_storage::{AheadStorage, Counters, CountingStorage, Storage};
use tdb_types::{Feature, FormatVersion, Limits};

use crate::access::Access;
use crate::damage::Damaged;
use crate::once::{try_init, try_insert};
use crate::{ArrayDirectory, ArrayError, Fragment, Metadata, Result, TimeRange};
use deletes::Delete;
use early::{AtOpening, Sources};
use footers::FooterFiles;
use fragments::Loaded;
use seen::Seen;

pub use options::{Open, Options};
pub use pinned::Pin;
pub use schema_file::load_schema;
pub use tile_workers::TileWorkers;

/// An array at a point in time: the schema and the committed fragments.
///
/// An immutable snapshot, cheap to clone and to share between threads. Footers of fragments,
/// R-trees and tile offsets are loaded on first use and cached.
#[derive(Clone, Debug)]
pub struct Snapshot {
    inner: Arc<Inner>,
    /// The array's threads with the monitor of a query attached, if any.
    watched: Option<Arc<Workers>>,
}

#[derive(Debug)]
struct Inner {
    /// The storage of the array, and the means to read the storage.
    place: Place,
    time: TimeRange,
    schema_path: String,
    schema_paths: Vec<String>,
    schema: Arc<ArraySchema>,
    directory: ArrayDirectory,
    /// The files of consolidated fragment metadata.
    footers: FooterFiles,
    skip_damaged: bool,
    /// Parts skipped at opening.
    damaged: Vec<Damaged>,
    /// Parts of fragments already read at opening.
    early: AtOpening,
    fragments: OnceLock<Loaded>,
    /// Fragments with known footers, by folder. Fragments never change: known footers are not read
    /// again.
    known: HashMap<String, Fragment>,
    /// Fragments of an earlier snapshot of this array, by folder, with all cached sections. Used if
    /// the files are unchanged.
    kept: HashMap<String, Fragment>,
    /// Files seen at opening, to detect changes when the array is reopened.
    seen: Arc<Seen>,
    enumerations: Mutex<HashMap<String, Arc<Enumeration>>>,
    metadata: OnceLock<Metadata>,
    deletes: OnceLock<Arc<[Delete]>>,
}

/// The storage of an array, and the means to read the storage. `counting` is the layer of `storage`
/// that counts requests.
#[derive(Clone, Debug)]
struct Place {
    counting: CountingStorage,
    storage: Arc<dyn Storage>,
    /// The same storage, if prefetching pays off.
    ahead: Option<AheadStorage>,
    access: Access,
    workers: Workers,
}

impl Inner {
    fn sources(&self) -> Sources<'_> {
        let Self { footers, schema_paths, schema_path, skip_damaged, .. } = self;
        Sources { footers, schema_paths, schema_path, skip_damaged: *skip_damaged }
    }
}

impl Snapshot {
    /// Opens the array in the folder `path` as of now. See [`Options`] for more choices.
    ///
    /// # Errors
    /// The folder is missing or not an array, or the schema or a commit file cannot be read.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Options::new().open(path)
    }

    /// Returns the schema in effect at the time of opening.
    #[must_use]
    pub fn schema(&self) -> &Arc<ArraySchema> {
        &self.inner.schema
    }

    /// Returns the default format version of new fragments, by the rule of the reference library.
    /// An array of format 7 or later, which supports nullable attributes, keeps its version. New
    /// fragments of older arrays get the current default.
    #[must_use]
    pub fn version_of_new_fragments(&self) -> FormatVersion {
        version_of_new_fragments(self.schema())
    }

    /// Returns the path of the schema file below the array's folder.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.inner.schema_path
    }

    /// Returns the committed fragments, oldest first. Where fragments overlap, cells of the later
    /// fragment supersede cells of the earlier fragment. Reads footers and fragment schemas on
    /// first use. The names alone are in [`directory`](Self::directory) at no cost.
    ///
    /// # Errors
    /// The metadata or the schema of a fragment cannot be read. With [`Options::skip_damaged`], the
    /// fragment is skipped instead.
    pub fn fragments(&self) -> Result<&[Fragment]> {
        Ok(&self.loaded()?.fragments)
    }

    /// Returns the unreadable parts skipped so far. Without [`Options::skip_damaged`], these are
    /// only damaged copies of footers, replaced by the footers in the fragments' own files. Damaged
    /// fragments appear after a call of [`fragments`](Self::fragments).
    #[must_use]
    pub fn damaged(&self) -> Vec<&Damaged> {
        let of_fragments = self.inner.fragments.get().map_or(&[][..], |loaded| &loaded.damaged);
        self.inner.damaged.iter().chain(of_fragments).collect()
    }

    fn loaded(&self) -> Result<&Loaded> {
        try_init(&self.inner.fragments, || Loaded::of(self))
    }

    /// Returns the requests to the storage by kind, and the bytes read, since opening began.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.place.counting.counters()
    }

    /// Returns the files of the array that are in effect.
    #[must_use]
    pub fn directory(&self) -> &ArrayDirectory {
        &self.inner.directory
    }

    /// Returns the time range at which the array was opened.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.inner.time
    }

    /// Returns the storage with the array.
    #[must_use]
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.inner.place.storage
    }

    /// Returns the bounds on the memory that a reader allocates because of sizes stated in the
    /// array's files.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.place.access.limits
    }

    /// Returns `true` if the array was opened with this key, or without a key for `None`.
    #[must_use]
    pub fn is_opened_with(&self, key: Option<&tdb_filters::EncryptionKey>) -> bool {
        self.inner.place.access.key.as_ref() == key
    }

    /// Returns the storage, if prefetching pays off.
    pub fn ahead(&self) -> Option<&AheadStorage> {
        self.inner.place.ahead.as_ref()
    }

    /// Returns the threads for queries of the array.
    pub fn workers(&self) -> &Workers {
        self.watched.as_deref().unwrap_or(&self.inner.place.workers)
    }

    /// Returns the same array with `monitor` attached to the threads.
    pub fn watched(&self, monitor: &Monitor) -> Self {
        let workers = self.inner.place.workers.watched(Watch::new(monitor));
        Self { inner: self.inner.clone(), watched: Some(Arc::new(workers)) }
    }

    /// Returns the smallest MBR around the cells of all fragments. Returns `None` if the array has
    /// no cells.
    ///
    /// # Errors
    /// The same as [`fragments`](Self::fragments).
    pub fn non_empty_domain(&self) -> Result<Option<NdRange>> {
        let mut boxes = self.fragments()?.iter().filter_map(Fragment::non_empty_domain);
        let Some(mut union) = boxes.next().cloned() else { return Ok(None) };
        boxes.for_each(|next| union.expand(next));
        Ok(Some(union))
    }

    /// Returns the first and last coordinate of the non-empty domain, for each dimension. Returns
    /// `None` if the array has no cells.
    ///
    /// # Errors
    /// The same as [`fragments`](Self::fragments).
    pub fn non_empty_coordinates(&self) -> Result<Option<Vec<RangeInclusive<Coordinate>>>> {
        Ok(self.non_empty_domain()?.map(|domain| Coordinate::of_box(self.schema(), &domain)))
    }

    /// Returns the limits, key and environment for reading the array's files.
    pub fn access(&self) -> &Access {
        &self.inner.place.access
    }

    /// Returns the metadata at the array's time, loaded on first use.
    ///
    /// # Errors
    /// A metadata file cannot be read.
    pub fn metadata(&self) -> Result<&Metadata> {
        let load = || Metadata::load(&**self.storage(), self.time(), self.access());
        try_init(&self.inner.metadata, || load().map_err(ArrayError::or_partly_encrypted))
    }

    /// Returns the enumeration called `name`, loaded on first use.
    ///
    /// # Errors
    /// The schema has no enumeration `name`, or the file cannot be read.
    pub fn enumeration(&self, name: &str) -> Result<Arc<Enumeration>> {
        try_insert(&self.inner.enumerations, name, || {
            let known = self.schema().enumerations();
            let Some(reference) = known.iter().find(|reference| reference.name == name) else {
                let known = known.iter().map(|reference| reference.name.clone()).collect();
                return Err(ArrayError::UnknownEnumeration { name: name.to_owned(), known });
            };
            self.read_enumeration(reference).map(Arc::new)
        })
    }
}

/// Returns the default format version of new fragments, by the rule of the reference library. An
/// array of format 7 or later, which supports nullable attributes, keeps its version. New fragments
/// of older arrays get the current default.
pub fn version_of_new_fragments(schema: &ArraySchema) -> FormatVersion {
    let version = schema.version();
    if version.has(Feature::Validity) { version } else { FormatVersion::DEFAULT }
}

//! An array, open at a time.

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

/// An array as it was at one time: its schema and its committed fragments.
///
/// It is an immutable snapshot, cheap to clone and to share between threads. Nothing that a query doesn't need has been
/// read: footers of fragments, R-trees and tile offsets are loaded on first use and kept.
#[derive(Clone, Debug)]
pub struct Snapshot {
    inner: Arc<Inner>,
    /// The same threads as others have, if they work for a query that somebody watches.
    watched: Option<Arc<Workers>>,
}

#[derive(Debug)]
struct Inner {
    /// What `storage` is, for its counts.
    counting: CountingStorage,
    storage: Arc<dyn Storage>,
    /// The same, if bytes of it are worth to be fetched before they are wanted.
    ahead: Option<AheadStorage>,
    access: Access,
    workers: Workers,
    time: TimeRange,
    schema_path: String,
    /// The paths of all schemas.
    schema_paths: Vec<String>,
    schema: Arc<ArraySchema>,
    directory: ArrayDirectory,
    /// Where footers of several fragments are.
    footers: FooterFiles,
    skip_damaged: bool,
    /// What was left out of the directory.
    damaged: Vec<Damaged>,
    /// What was read of fragments when the array was opened.
    early: AtOpening,
    fragments: OnceLock<Loaded>,
    /// Fragments whose footers were read before, by their folders: they needn't be read again, for fragments never change.
    known: HashMap<String, Fragment>,
    /// Fragments of the same array when it was open before, by their folders: with all that was read of them, if their files are still the
    /// same.
    kept: HashMap<String, Fragment>,
    /// What opening it once more is told by.
    seen: Arc<Seen>,
    enumerations: Mutex<HashMap<String, Arc<Enumeration>>>,
    metadata: OnceLock<Metadata>,
    deletes: OnceLock<Arc<[Delete]>>,
}

impl Inner {
    fn sources(&self) -> Sources<'_> {
        let Self { footers, schema_paths, schema_path, skip_damaged, .. } = self;
        Sources { footers, schema_paths, schema_path, skip_damaged: *skip_damaged }
    }
}

impl Snapshot {
    /// Opens the array in the folder `path` as it is now; see [`Options`] for more to say.
    ///
    /// # Errors
    /// The folder is missing or no array, or its schema or a commit file can't be read.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        Options::new().open(path)
    }

    /// The schema that counts at the time of opening.
    #[must_use]
    pub fn schema(&self) -> &Arc<ArraySchema> {
        &self.inner.schema
    }

    /// The format version of fragments that are written without asking for one, by the reference library's rule: an array
    /// whose version could hold validity keeps its version, what is added to an older one is of today's.
    #[must_use]
    pub fn version_of_new_fragments(&self) -> FormatVersion {
        version_of_new_fragments(self.schema())
    }

    /// The path of the schema's file below the array's folder.
    #[must_use]
    pub fn schema_path(&self) -> &str {
        &self.inner.schema_path
    }

    /// The committed fragments, oldest first; where they overlap, the later one wins. Their footers, and the schemas that these
    /// name, are read on first use; the [`directory`](Self::directory) has the fragments' names for nothing.
    ///
    /// # Errors
    /// The metadata or the schema of a fragment can't be read, unless [`Options::skip_damaged`] leaves such fragments out.
    pub fn fragments(&self) -> Result<&[Fragment]> {
        Ok(&self.loaded()?.fragments)
    }

    /// What was left out so far because it can't be read: nothing, unless [`Options::skip_damaged`] asked for it, or what
    /// is damaged are copies of fragments' footers, in whose place those of the fragments themselves were read.
    /// [`fragments`](Self::fragments) finds out which of them can be.
    #[must_use]
    pub fn damaged(&self) -> Vec<&Damaged> {
        let of_fragments = self.inner.fragments.get().map_or(&[][..], |loaded| &loaded.damaged);
        self.inner.damaged.iter().chain(of_fragments).collect()
    }

    fn loaded(&self) -> Result<&Loaded> {
        if let Some(loaded) = self.inner.fragments.get() {
            return Ok(loaded);
        }
        // Two threads may both load them; the first one's stay.
        let loaded = Loaded::of(self)?;
        Ok(self.inner.fragments.get_or_init(|| loaded))
    }

    /// What the array has asked of its storage so far, opening included: requests by kind, and bytes.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.counting.counters()
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

    /// Whether it was opened with this key, or, of none, without one.
    #[must_use]
    pub fn is_opened_with(&self, key: Option<&tdb_filters::EncryptionKey>) -> bool {
        self.inner.access.key.as_ref() == key
    }

    /// The storage, if bytes of it are worth to be fetched before they are wanted.
    pub fn ahead(&self) -> Option<&AheadStorage> {
        self.inner.ahead.as_ref()
    }

    /// The threads that queries of the array use.
    pub fn workers(&self) -> &Workers {
        self.watched.as_deref().unwrap_or(&self.inner.workers)
    }

    /// The same array, read for a query that somebody watches.
    pub fn watched(&self, monitor: &Monitor) -> Self {
        let workers = self.inner.workers.watched(Watch::new(monitor));
        Self { inner: self.inner.clone(), watched: Some(Arc::new(workers)) }
    }

    /// The smallest box that holds every cell that was ever written; `None` if nothing was.
    ///
    /// # Errors
    /// Those of [`fragments`](Self::fragments).
    pub fn non_empty_domain(&self) -> Result<Option<NdRange>> {
        let mut boxes = self.fragments()?.iter().filter_map(Fragment::non_empty_domain);
        let Some(mut union) = boxes.next().cloned() else { return Ok(None) };
        boxes.for_each(|next| union.expand(next));
        Ok(Some(union))
    }

    /// For each dimension the first and last coordinate of that box.
    ///
    /// # Errors
    /// Those of [`fragments`](Self::fragments).
    pub fn non_empty_coordinates(&self) -> Result<Option<Vec<RangeInclusive<Coordinate>>>> {
        Ok(self.non_empty_domain()?.map(|domain| Coordinate::of_box(self.schema(), &domain)))
    }

    /// What reading the array's files takes.
    pub fn access(&self) -> &Access {
        &self.inner.access
    }

    /// The metadata at the array's time, loaded on first use.
    ///
    /// # Errors
    /// A file of metadata can't be read.
    pub fn metadata(&self) -> Result<&Metadata> {
        if let Some(metadata) = self.inner.metadata.get() {
            return Ok(metadata);
        }
        let metadata = Metadata::load(&*self.inner.storage, self.time(), &self.inner.access);
        let metadata = metadata.map_err(ArrayError::or_partly_encrypted)?;
        Ok(self.inner.metadata.get_or_init(|| metadata))
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
            return Err(ArrayError::UnknownEnumeration { name: name.to_owned(), known });
        };
        let enumeration = Arc::new(self.read_enumeration(reference)?);
        if let Ok(mut loaded) = self.inner.enumerations.lock() {
            loaded.insert(name.to_owned(), enumeration.clone());
        }
        Ok(enumeration)
    }
}

/// The reference library's rule: an array whose version could hold validity keeps its version; what is added to an older
/// one is of today's.
pub fn version_of_new_fragments(schema: &ArraySchema) -> FormatVersion {
    let version = schema.version();
    if version.has(Feature::Validity) { version } else { FormatVersion::DEFAULT }
}

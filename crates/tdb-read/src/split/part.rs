//! Parts of a query as plain values.

use std::sync::Arc;

use tdb_query::may_reach;
use tdb_rtree::DimRange;
use tdb_snapshot::{ArrayError, Options, Pin, Result, Snapshot, TimeRange};
use tdb_storage::{LocalStorage, Storage};

use crate::Query;
use crate::query::QuerySpec;

/// A part of a [split](Query::split) query: the location of the array, the snapshot, and the
/// definition of the query.
///
/// Contains no open files and no key. Processes with the same major version of this library can
/// exchange parts as [bytes](Self::to_bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPart {
    pub(super) location: String,
    pub(super) time: TimeRange,
    pub(super) snapshot: Pin,
    pub(super) spec: QuerySpec,
    pub(super) weight: u64,
}

impl QueryPart {
    pub(super) fn new(array: &Snapshot, snapshot: Pin, spec: QuerySpec, weight: f64) -> Self {
        let storage = array.storage();
        let location = storage.uri("").unwrap_or_else(|| storage.describe(""));
        // The cast saturates at the maximum.
        Self { location, time: array.time(), snapshot, spec, weight: weight as u64 }
    }

    /// Returns the location of the array: a URI if the storage has one, as for local files, or else
    /// the storage's description.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Returns the time range at which the array was opened.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.time
    }

    /// Returns the approximate cost of the part, for comparison with other parts of the query: the
    /// bytes of tiles plus the number of cells.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Opens the array at the part's location, and returns the part's query. Uses the key, limits
    /// and threads of `options`. Opens the array at the time of the part.
    ///
    /// # Errors
    /// [`ArrayError::Query`] if the location is the URI of another storage than local files.
    /// Otherwise the same as [`open_on`](Self::open_on).
    pub fn open<T>(&self, options: &Options<T>) -> Result<Query> {
        let path = self.location.strip_prefix("file://").unwrap_or(&self.location);
        if path.contains("://") {
            let what = format!("{path} is not a local folder; open the part on its storage with `open_on`");
            return Err(ArrayError::Query(what));
        }
        self.open_on(Arc::new(LocalStorage::new(path)), options)
    }

    /// Opens the array at the root of a storage, and returns the part's query.
    ///
    /// # Errors
    /// The array cannot be opened, or an error of [`query`](Self::query).
    pub fn open_on<T>(&self, storage: Arc<dyn Storage>, options: &Options<T>) -> Result<Query> {
        self.query(&options.to_open::<Snapshot>().between(self.time).open_on(storage)?)
    }

    /// Returns the part's query on the split array, possibly opened elsewhere. Reads the original
    /// snapshot, independent of later writes. A consolidation has no effect until a vacuum removes
    /// fragments. Labels are read at the part's time.
    ///
    /// # Errors
    /// [`ArrayError::Outdated`] if the schema, a fragment or a delete commit of the snapshot no
    /// longer exists. Another error if the definition of the query does not match the array, or the
    /// array cannot be read.
    pub fn query(&self, array: &Snapshot) -> Result<Query> {
        let array = if array.time() == self.time { array.clone() } else { array.reopened_between(self.time)? };
        let array = array.by_schema_of(&self.snapshot)?;
        // Ranges must match the array's dimensions before further use.
        drop(Query::of_spec(&array, &self.spec)?);
        let or_all = |(index, ranges): (usize, &Vec<DimRange>)| match ranges.is_empty() {
            true => vec![array.schema().limits(index)],
            false => ranges.clone(),
        };
        let ranges: Vec<Vec<DimRange>> = self.spec.ranges.iter().enumerate().map(or_all).collect();
        let array = array.pinned(&self.snapshot, |fragment| may_reach(fragment, &ranges))?;
        Query::of_spec(&array, &self.spec)
    }
}

//! One part of a query, as a value.

use std::sync::Arc;

use tdb_query::may_reach;
use tdb_rtree::DimRange;
use tdb_snapshot::{ArrayError, Options, Pin, Result, Snapshot, TimeRange};
use tdb_storage::{LocalStorage, Storage};

use crate::Query;
use crate::query::QuerySpec;

/// One part of a query that was [split](Query::split): where the array lies, which snapshot of it counts, and what is asked of it.
///
/// It holds nothing that is open, and no key. Two processes of the same major version of this library can exchange it as
/// [bytes](Self::to_bytes).
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
        // What is too large for the type becomes its greatest value.
        Self { location, time: array.time(), snapshot, spec, weight: weight as u64 }
    }

    /// Where the array lies: a URI if its storage has one, as of files on this machine, else what its storage calls it.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The range of time that the array was opened at.
    #[must_use]
    pub fn time(&self) -> TimeRange {
        self.time
    }

    /// About how much it takes to read the part, to be compared with the other parts of the query: bytes of tiles, and as many as they
    /// have cells.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The part's query, on the array in the local folder that the part names, opened with the key, limits and threads of the options; the
    /// time is the part's own.
    ///
    /// # Errors
    /// [`ArrayError::Query`] if the array isn't in a local folder; those of [`query`](Self::query).
    pub fn open<T>(&self, options: &Options<T>) -> Result<Query> {
        let path = self.location.strip_prefix("file://").unwrap_or(&self.location);
        if path.contains("://") {
            let what = format!("{path} is no local folder; open its storage, and the part on that");
            return Err(ArrayError::Query(what));
        }
        self.open_on(Arc::new(LocalStorage::new(path)), options)
    }

    /// The same on the array at the root of a storage.
    ///
    /// # Errors
    /// Those of opening the array, and of [`query`](Self::query).
    pub fn open_on<T>(&self, storage: Arc<dyn Storage>, options: &Options<T>) -> Result<Query> {
        self.query(&options.to_open::<Snapshot>().between(self.time).open_on(storage)?)
    }

    /// The part's query, on the array that was split, or the same one opened elsewhere. It reads the snapshot of it that was split,
    /// whatever has been written since: consolidation doesn't matter until what it replaced is vacuumed. Labels are read as of the part's
    /// time.
    ///
    /// # Errors
    /// [`ArrayError::Outdated`] if a fragment of the snapshot is gone; the array isn't the one that was split, or can't be read.
    pub fn query(&self, array: &Snapshot) -> Result<Query> {
        let array = if array.time() == self.time { array.clone() } else { array.reopened_between(self.time)? };
        let array = array.by_schema_of(&self.snapshot)?;
        // Ranges are looked at only once they are known to be of the array's dimensions.
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

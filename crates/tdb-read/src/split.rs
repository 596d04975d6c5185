//! Splitting of queries into parts for other processes or machines.

mod by_value;
mod cut;
mod part;
mod weigh;
mod wire;

use tdb_query::{CheckedQuery, may_reach};
use tdb_rtree::NdRange;
use tdb_snapshot::Result;

use crate::Query;
use cut::{Cutter, Piece};

pub use by_value::FirstValues;
pub use part::QueryPart;

impl Query {
    /// Splits the query into at most `parts` parts, and at least one part. Each cell of the query
    /// is in exactly one part.
    ///
    /// Parts are boxes of coordinates, cut at tile boundaries if possible, with about the same
    /// number of bytes to read. Splitting reads only metadata. All cells with the same coordinates
    /// are in the same part. Few or large tiles cannot be split evenly. [`QueryPart::weight`] shows
    /// the balance.
    ///
    /// Parts are plain values. Send them as bytes with [`QueryPart::to_bytes`]. Parts read the
    /// current snapshot of the array, independent of later writes. The [monitor](Self::monitor) and
    /// the key of an encrypted array are not included.
    ///
    /// ```
    /// use tdb_array::{Array, ArrayOptions, QueryPart};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let query = Array::open(folder)?.read().select(["a"])?;
    /// let messages: Vec<Vec<u8>> = query.split(4)?.iter().map(QueryPart::to_bytes).collect();
    ///
    /// // Elsewhere:
    /// let mut cells = 0;
    /// for message in &messages {
    ///     let part = QueryPart::from_bytes(message).unwrap().open(&ArrayOptions::new())?;
    ///     for batch in part.batches()? {
    ///         cells += batch?.len();
    ///     }
    /// }
    /// let all: usize = query.batches()?.map(|batch| Ok(batch?.len())).sum::<Result<_, tdb_array::ArrayError>>()?;
    /// assert_eq!(cells, all);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`plan`](Self::plan).
    pub fn split(&self, parts: usize) -> Result<Vec<QueryPart>> {
        let checked = self.check()?;
        let schema = checked.array.schema();
        let windows = match hull(&checked) {
            Some(hull) if parts > 1 => {
                let weights = weigh::weigh(&checked, &hull)?;
                Cutter::new(schema).cut(Piece { window: hull, weights }, parts)
            }
            hull => hull.into_iter().map(|window| Piece { window, weights: Vec::new() }).collect(),
        };
        let mut found = Vec::new();
        for piece in windows {
            let Some(spec) = self.spec.within(schema, &piece.window) else { continue };
            let ranges = spec.ranges.clone();
            let snapshot = checked.array.pin(|fragment| may_reach(fragment, &ranges))?;
            found.push(QueryPart::new(self.array(), snapshot, spec, piece.weight()));
        }
        if found.is_empty() {
            // The selection is empty.
            let snapshot = checked.array.pin(|_| false)?;
            found.push(QueryPart::new(self.array(), snapshot, self.spec.clone(), 0.0));
        }
        Ok(found)
    }
}

/// Returns the smallest box around the selection. Returns `None` if the selection is empty.
fn hull(query: &CheckedQuery) -> Option<NdRange> {
    let side = |ranges: &Vec<tdb_rtree::DimRange>| {
        let mut hull = ranges.first()?.clone();
        hull.expand(ranges.last()?);
        Some(hull)
    };
    let hull = NdRange(query.region.ranges().iter().map(side).collect::<Option<_>>()?);
    match &query.boxes {
        Some(boxes) => hull.intersection(&boxes.hull()?),
        None => Some(hull),
    }
}

//! A read of an array.

use crate::arrays::SpeedArray;
use crate::workload::Group;
use tdb_reference::model::{AggregateSpec, QuerySpec};

/// A read of an array.
pub struct Case {
    pub group: Group,
    pub name: String,
    pub array: SpeedArray,
    pub query: QuerySpec,
    /// Aggregates to compute instead of returning cells.
    pub aggregates: Vec<AggregateSpec>,
    pub asking: Asking,
    /// `true` if tdb returns the complete result as one batch, like the reference library, instead
    /// of several batches.
    pub whole: bool,
}

/// How a query with many ranges is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Asking {
    /// As a single query.
    Once,
    /// As [queries in sequence](QuerySpec::one_by_one) on an open array.
    OneByOne,
    /// As one query of points with tdb. The reference library has no point queries, and runs the
    /// queries in sequence.
    Points,
}

impl Case {
    /// Returns a sufficient buffer size in bytes for any column of the result: 24 bytes per written
    /// cell, or 2 if the query has ranges.
    pub fn room(&self) -> usize {
        let written: u64 = self.array.writes.iter().map(|write| write.cells).sum();
        let bytes = if self.query.ranges.is_empty() { 24 } else { 2 };
        usize::try_from(written * bytes).unwrap_or(usize::MAX)
    }
}

pub fn case(group: Group, name: &str, array: SpeedArray, query: QuerySpec) -> Case {
    Case { group, name: name.to_owned(), array, query, aggregates: Vec::new(), asking: Asking::Once, whole: false }
}

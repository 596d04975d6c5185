//! Aggregates of a query's cells: counts, sums, means, extremes, and all of them by group.

mod columns;
mod distribution;
mod fragmentwise;
mod function;
mod grouped;
mod histogram;
mod measure;
mod stated;
mod stating;
mod statistics;
mod whole;

use std::iter::FusedIterator;

use tdb_cells::{Batch, Order};
use tdb_query::CheckedQuery;
use tdb_query::scan::ScanCost;
use tdb_snapshot::Result;

use crate::Query;
use columns::ResultColumns;
use distribution::Distributions;
use grouped::SortedGroups;
use measure::Measures;

pub use function::{Aggregate, AggregateFunction};
pub use histogram::Histogram;
pub use stated::{Stated, Statistics};

/// The aggregates of all cells of a query: a batch of one row, with a column for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregates {
    batch: Batch,
    saturated: Vec<String>,
    cost: ScanCost,
}

/// The aggregates of each group of a query's cells, in the order of the keys: batches with a column for each field that cells are
/// grouped by, and one for each aggregate.
///
/// Nulls are a group of their own, the last. NaNs are one group, after the infinities.
#[derive(Debug)]
pub struct Grouped {
    groups: SortedGroups,
    distributions: Distributions,
    columns: ResultColumns,
    rows: usize,
    ended: bool,
}

impl Query {
    /// Computes aggregates of all cells of the query: those in its ranges that fulfil its [condition](Self::filter). Selected fields
    /// and the order don't matter.
    ///
    /// Tiles of which fragments' metadata says enough aren't read. Of others only the fields that are needed are, and, if
    /// there is a condition, only tiles and chunks with cells that fulfil it.
    ///
    /// ```
    /// use tdb_array::{Aggregate, Array};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// let found = array.read().range("y", 0..=1)?.aggregate([Aggregate::count(), Aggregate::mean("a"), Aggregate::max("a")])?;
    /// let count: Option<u64> = found.value("count")?;
    /// let mean: Option<f64> = found.value("mean(a)")?;
    /// let max: Option<i32> = found.value("max(a)")?;
    /// assert!(count > Some(0) && mean.unwrap() <= f64::from(max.unwrap()));
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// A field is unknown or has no such aggregate ([`ArrayError::Aggregate`](tdb_snapshot::ArrayError::Aggregate)), and what reading gives.
    pub fn aggregate(self, aggregates: impl IntoIterator<Item = Aggregate>) -> Result<Aggregates> {
        let aggregates: Vec<Aggregate> = aggregates.into_iter().collect();
        let measures = Measures::new(self.schema(), &[], &aggregates)?;
        let mut columns = ResultColumns::new(self.schema(), &[], &aggregates)?;
        let (summaries, cells, mut cost) = whole::summarise(self.for_scan(measures.fields())?, &measures)?;
        let row = tdb_aggregate::GroupRow { key: Vec::new(), cells, summaries };
        let mut distributions = Distributions::new(&self, &[], &aggregates)?;
        let found = distributions.of(&row, &measures)?;
        cost.add(distributions.cost());
        columns.push(&row, &found, &measures);
        Ok(Aggregates { saturated: columns.saturated().to_vec(), batch: columns.finish(), cost })
    }

    /// Computes aggregates of the query's cells for each group of them that are equal in some fields; see
    /// [`aggregate`](Self::aggregate).
    ///
    /// Groups, and what reads the cells, share the query's [budget](Self::budget); without one, groups take up to 256 MiB. Those that
    /// don't fit are computed in another pass over the array.
    ///
    /// ```
    /// use tdb_array::{Aggregate, Array};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// for batch in array.read().group_by(["y"], [Aggregate::count(), Aggregate::sum("a")])? {
    ///     let batch = batch?;
    ///     let rows: &[i32] = batch.column("y")?.values()?;
    ///     let sums: &[i64] = batch.column("sum(a)")?.values()?;
    ///     assert!(rows.is_sorted() && sums.len() == rows.len());
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`aggregate`](Self::aggregate); what goes wrong with cells, the iterator says.
    pub fn group_by<S: AsRef<str>>(
        self,
        fields: impl IntoIterator<Item = S>,
        aggregates: impl IntoIterator<Item = Aggregate>,
    ) -> Result<Grouped> {
        let aggregates: Vec<Aggregate> = aggregates.into_iter().collect();
        let keys = measure::key_fields(self.schema(), fields)?;
        let measures = Measures::new(self.schema(), &keys, &aggregates)?;
        let columns = ResultColumns::new(self.schema(), &keys, &aggregates)?;
        let distributions = Distributions::new(&self, &keys, &aggregates)?;
        let streams = 1 + distributions.len();
        let groups = SortedGroups::new(self.for_scan(measures.fields())?, &measures, self.group_memory() / streams);
        Ok(Grouped { groups, distributions, columns, rows: self.group_rows(), ended: false })
    }

    /// Whether an aggregate can be computed.
    ///
    /// # Errors
    /// Its field is unknown, or has none.
    pub fn can_aggregate(&self, aggregate: &Aggregate) -> Result<()> {
        measure::checked(self.schema(), aggregate).map(drop)
    }

    /// The query for a scan of these fields.
    fn for_scan(&self, fields: &[tdb_schema::FieldRef]) -> Result<CheckedQuery> {
        let mut query = self.clone().order(Order::Unordered).only_matching();
        // Groups have the other half.
        query.halve_budget();
        let mut query = query.check()?;
        query.fields = fields.into();
        Ok(query)
    }
}

impl Aggregates {
    /// The row: a column for each aggregate, in the order in which they were asked for.
    #[must_use]
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The value of an aggregate by the name of its column, as [`Aggregate`] is written; `None` if it is null, which that of no values
    /// is.
    ///
    /// # Errors
    /// There is no such column, or it has values of another type.
    pub fn value<T: tdb_cells::Value>(&self, column: &str) -> Result<Option<T>> {
        let column = self.batch.column(column)?;
        let values = column.values::<T>()?;
        Ok(values.first().copied().filter(|_| column.is_valid(0)))
    }

    /// The sums that don't fit into their type, and means of floats whose sum doesn't, by the names of their columns: these have the
    /// greatest value of the type, or are null where the field may be.
    #[must_use]
    pub fn saturated(&self) -> &[String] {
        &self.saturated
    }

    /// How many tiles were counted in without being read, because the fragments' metadata says enough of them.
    #[must_use]
    pub fn tiles_known(&self) -> u64 {
        self.cost.known
    }

    /// How many tiles were read; of a dense array that several ranges on a dimension, or boxes, are asked of, they aren't counted.
    #[must_use]
    pub fn tiles_read(&self) -> u64 {
        self.cost.read
    }
}

/// Bytes that the values of a batch of groups may take, but for those of the last group.
const MOST_BYTES: usize = 4 << 20;

impl Grouped {
    /// A batch without rows, which has the columns that all batches have.
    #[must_use]
    pub fn empty_batch(&self) -> Batch {
        self.columns.empty()
    }

    /// The sums, and means of floats, so far that don't fit into their type, by the names of their columns.
    #[must_use]
    pub fn saturated(&self) -> &[String] {
        self.columns.saturated()
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        while self.columns.len() < self.rows && self.columns.bytes() < MOST_BYTES {
            let Some(row) = self.groups.next_row()? else { break };
            let found = self.distributions.of(&row, self.groups.measures())?;
            self.columns.push(&row, &found, self.groups.measures());
        }
        Ok((self.columns.len() > 0).then(|| self.columns.take()))
    }
}

impl Iterator for Grouped {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.next_batch().transpose();
        self.ended = !matches!(batch, Some(Ok(_)));
        batch
    }
}

impl FusedIterator for Grouped {}

//! Aggregates of a query's cells, in total and by group: counts, sums, means, minima, maxima.

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
pub use stated::{Exactness, Statistics};

/// The aggregates of all cells of a query: a batch with a single row and a column for each
/// aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregates {
    batch: Batch,
    saturated: Vec<String>,
    cost: ScanCost,
}

/// The aggregates of each group of a query's cells, in the order of the keys. The batches have a
/// column for each grouping field and for each aggregate.
///
/// In each grouping field, all NaNs count as a single value, after the infinities. Nulls come last.
#[derive(Debug)]
pub struct Grouped {
    groups: SortedGroups,
    distributions: Distributions,
    columns: ResultColumns,
    rows: usize,
    ended: bool,
}

impl Query {
    /// Computes aggregates of all cells in the query's ranges that meet the
    /// [condition](Self::filter). Selected fields and the order do not matter.
    ///
    /// Tiles are not read if the metadata of fragments suffices. From other tiles, only the
    /// necessary fields are read. With a condition, only tiles and chunks that may contain matching
    /// cells are read.
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
    /// - [`ArrayError::Aggregate`](tdb_snapshot::ArrayError::Aggregate): a field does not support
    ///   the aggregate.
    /// - [`ArrayError::Query`](tdb_snapshot::ArrayError::Query): two result columns have the same
    ///   name.
    /// - A field is unknown, the query is invalid as in [`plan`](Self::plan), or reading fails.
    pub fn aggregate(self, aggregates: impl IntoIterator<Item = Aggregate>) -> Result<Aggregates> {
        let aggregates: Vec<Aggregate> = aggregates.into_iter().collect();
        let measures = Measures::new(self.schema(), &[], &aggregates)?;
        let mut columns = ResultColumns::new(self.schema(), &[], &aggregates)?;
        let (summaries, cells, mut cost) = whole::summarise(self.for_scan(&measures.fields)?, &measures)?;
        let row = tdb_aggregate::GroupRow { key: Vec::new(), cells, summaries };
        let mut distributions = Distributions::new(&self, &[], &aggregates)?;
        let found = distributions.of(&row, &measures)?;
        cost.add(distributions.cost());
        columns.push(&row, &found, &measures);
        Ok(Aggregates { saturated: columns.saturated.clone(), batch: columns.take(), cost })
    }

    /// Computes aggregates for each group of cells with equal values in `fields`. See
    /// [`aggregate`](Self::aggregate).
    ///
    /// Groups and the reading of cells share the query's [budget](Self::budget). Without a budget,
    /// groups take up to 256 MiB. If the memory has no room for all groups, further passes over the
    /// array compute the remaining groups.
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
    /// The same as [`aggregate`](Self::aggregate), or
    /// [`ArrayError::Query`](tdb_snapshot::ArrayError::Query) if `fields` names a field twice. The
    /// iterator returns errors of reading cells.
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
        let groups = SortedGroups::new(self.for_scan(&measures.fields)?, &measures, self.group_memory() / streams);
        Ok(Grouped { groups, distributions, columns, rows: self.group_rows(), ended: false })
    }

    /// Checks that the array supports an aggregate.
    ///
    /// # Errors
    /// The field is unknown, or does not support the aggregate.
    pub fn can_aggregate(&self, aggregate: &Aggregate) -> Result<()> {
        measure::checked(self.schema(), aggregate).map(drop)
    }

    /// Returns the query for a scan of these fields.
    fn for_scan(&self, fields: &[tdb_schema::FieldRef]) -> Result<CheckedQuery> {
        let mut query = self.clone().order(Order::Unordered).only_matching();
        // The other half of the budget is for groups.
        query.spec.budget = query.spec.budget.map(|budget| (budget / 2).max(1));
        let mut query = query.check()?;
        query.fields = fields.into();
        Ok(query)
    }
}

impl Aggregates {
    /// Returns the row, with a column for each aggregate in the requested order.
    #[must_use]
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// Returns the value of an aggregate. `column` is the column name, equal to the text form of
    /// [`Aggregate`]. Returns `None` if the result is null, for example the minimum of no values.
    ///
    /// # Errors
    /// The column does not exist, or has another type.
    pub fn value<T: tdb_cells::Value>(&self, column: &str) -> Result<Option<T>> {
        let column = self.batch.column(column)?;
        let values = column.values::<T>()?;
        Ok(values.first().copied().filter(|_| column.is_valid(0)))
    }

    /// Returns the names of columns with an overflow: sums, and means of floats with an overflowing
    /// sum. Overflowing sums have the maximum of the type, or are null if the field is nullable.
    #[must_use]
    pub fn saturated(&self) -> &[String] {
        &self.saturated
    }

    /// Returns the number of tiles answered by the metadata of fragments, without reading.
    #[must_use]
    pub fn tiles_known(&self) -> u64 {
        self.cost.known
    }

    /// Returns the number of tiles read. Tiles of a dense array are not counted if the query has
    /// boxes or several ranges on a dimension, or if unwritten cells must be visited.
    #[must_use]
    pub fn tiles_read(&self) -> u64 {
        self.cost.read
    }
}

/// The maximum size in bytes of the values in a batch of groups, excluding the last group.
const MOST_BYTES: usize = 4 << 20;

impl Grouped {
    /// Returns a batch without rows, with the columns of all batches.
    #[must_use]
    pub fn empty_batch(&self) -> Batch {
        self.columns.empty()
    }

    /// Returns the names of columns with an overflow so far. See [`Aggregates::saturated`].
    #[must_use]
    pub fn saturated(&self) -> &[String] {
        &self.columns.saturated
    }

    fn next_batch(&mut self) -> Result<Option<Batch>> {
        while self.columns.rows < self.rows && self.columns.bytes() < MOST_BYTES {
            let Some(row) = self.groups.next_row()? else { break };
            let found = self.distributions.of(&row, &self.groups.measures)?;
            self.columns.push(&row, &found, &self.groups.measures);
        }
        Ok((self.columns.rows > 0).then(|| self.columns.take()))
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

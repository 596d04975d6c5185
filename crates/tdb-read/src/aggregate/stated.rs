//! Exact statistics from metadata alone.

use std::sync::Arc;

use tdb_aggregate::{Sum, Summary};
use tdb_query::InexactReason;
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{OutputField, Result, unknown_field};
use tdb_types::ArrayType;

use super::fragmentwise;
use super::stating::{Asked, Stating, Thing};
use crate::Query;
use crate::read::scan;

/// A value known from metadata, or the reason why metadata does not determine the value.
#[derive(Clone, Debug, PartialEq)]
pub enum Exactness<T> {
    /// The exact value, equal to the aggregate of all cells.
    Exact(T),
    /// Unknown without reading cells.
    Unknown(InexactReason),
}

impl<T> Exactness<T> {
    /// Returns the value, if exact.
    #[must_use]
    pub fn exact(&self) -> Option<&T> {
        match self {
            Self::Exact(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// The statistics of a field over a query's cells, from metadata. Each exact value equals the
/// corresponding [aggregate](Query::aggregate).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// The number of cells. In a dense array, includes unwritten cells.
    pub cells: Exactness<u64>,
    /// The number of cells with a value of the field.
    pub count: Exactness<u64>,
    /// The number of null cells.
    pub nulls: Exactness<u64>,
    /// The minimum, as the bytes of a cell. `None` without values.
    pub min: Exactness<Option<Vec<u8>>>,
    /// The maximum, as the bytes of a cell. `None` without values.
    pub max: Exactness<Option<Vec<u8>>>,
    /// The sum. `None` for null, for example without values of a nullable field. Sums of floats
    /// depend on the order of addition.
    pub sum: Exactness<Option<Sum>>,
}

impl Query {
    /// Returns the statistics of a field over the query's cells, from metadata. See
    /// [`statistics_of`](Self::statistics_of).
    ///
    /// # Errors
    /// The field is unknown, the query is invalid, or metadata cannot be read.
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        let mut all = self.stated(&[field])?;
        // The result has an entry for each field.
        Ok(all.1.pop().unwrap_or_else(|| Statistics::unknown(all.0, InexactReason::NoStatistics)))
    }

    /// Returns the statistics of several fields over the query's cells, from metadata, in the order
    /// of the fields. Reads no tile, except tiles of sparse fragments written into dense arrays by
    /// old releases. Selected fields and the order do not matter, as in
    /// [`aggregate`](Self::aggregate).
    ///
    /// A query without ranges selects all fragments completely. For a completely selected fragment,
    /// the result uses trusted totals, or else the merged statistics of all tiles. Merged
    /// statistics are cached while the array is open.
    ///
    /// # Errors
    /// A field is unknown, the query is invalid, or metadata cannot be read.
    pub fn statistics_of<S: AsRef<str>>(&self, fields: impl IntoIterator<Item = S>) -> Result<Vec<Statistics>> {
        let fields: Vec<S> = fields.into_iter().collect();
        let names: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
        Ok(self.stated(&names)?.1)
    }

    /// Returns the number of cells from metadata, like `cells` in [`statistics`](Self::statistics).
    /// Needs no statistics of a field.
    ///
    /// # Errors
    /// The query is invalid, or metadata cannot be read.
    pub fn cell_count(&self) -> Result<Exactness<u64>> {
        Ok(self.stated(&[])?.0)
    }

    /// Returns the number of cells, and statistics of fields.
    fn stated(&self, names: &[&str]) -> Result<(Exactness<u64>, Vec<Statistics>)> {
        let schema = self.schema();
        let asked = Asked::of(schema, names)?;
        let mut query = self.for_scan(asked.fields())?;
        let mut stating = Stating::new(schema, &asked);
        let has_ranges_only = query.filter.is_none() && query.boxes.is_none();
        let cells = match schema.array_type() {
            ArrayType::Sparse if has_ranges_only => {
                fragmentwise::sparse(&query, &mut stating)?;
                stating.cells
            }
            ArrayType::Sparse => {
                // No cell is read, and data files need not be open.
                query.fields = Arc::new([]);
                scan(query, &mut stating)?;
                stating.cells
            }
            ArrayType::Dense if has_ranges_only => {
                let all = query.region.cells();
                if !(names.is_empty() || query.region.is_single() && fragmentwise::dense(&query, &mut stating)?) {
                    scan(query, &mut stating)?;
                }
                Ok(all)
            }
            ArrayType::Dense => {
                scan(query, &mut stating)?;
                stating.cells
            }
        };
        let cells = cells.into();
        let of = |name: &&str| {
            let field = schema.field(name).ok_or_else(|| unknown_field(schema, name))?;
            Ok(Statistics::of(schema, field, &cells, &stating))
        };
        Ok((cells.clone(), names.iter().map(of).collect::<Result<_>>()?))
    }
}

impl Statistics {
    /// Creates the statistics of a field.
    fn of(schema: &ArraySchema, field: FieldRef, cells: &Exactness<u64>, stating: &Stating<'_>) -> Self {
        let nullable = OutputField::of(schema, field).nullable;
        let counts = stating.found(field, Thing::Counts);
        let bounds = stating.found(field, Thing::Bounds);
        let bounds = bounds.map(|summary| summary.bounds().map(|(min, max)| (min.to_vec(), max.to_vec())));
        let sum = stating.found(field, Thing::Sum).and_then(|summary| match summary.total().sum() {
            (_, false) => Err(InexactReason::TooLarge),
            // As in the reference library: for a nullable field, a sum without values is null.
            (sum, true) => Ok((!nullable || summary.values() > 0).then_some(sum)),
        });
        Self {
            cells: cells.clone(),
            count: counts.map(Summary::values).into(),
            nulls: counts.map(Summary::nulls).into(),
            min: bounds.clone().map(|bounds| bounds.map(|(min, _)| min)).into(),
            max: bounds.map(|bounds| bounds.map(|(_, max)| max)).into(),
            sum: sum.into(),
        }
    }

    /// Creates statistics with only the number of cells known.
    fn unknown(cells: Exactness<u64>, why: InexactReason) -> Self {
        let (count, nulls) = (Exactness::Unknown(why), Exactness::Unknown(why));
        let (min, max, sum) = (Exactness::Unknown(why), Exactness::Unknown(why), Exactness::Unknown(why));
        Self { cells, count, nulls, min, max, sum }
    }
}

impl<T> From<Result<T, InexactReason>> for Exactness<T> {
    fn from(found: Result<T, InexactReason>) -> Self {
        found.map_or_else(Self::Unknown, Self::Exact)
    }
}

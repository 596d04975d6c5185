//! What metadata alone says of a field's cells, exactly.

use std::sync::Arc;

use tdb_aggregate::{Sum, Summary};
use tdb_query::WhyUnknown;
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{OutputField, Result, unknown_field};
use tdb_types::ArrayType;

use super::fragmentwise;
use super::stating::{Asked, Stating, Thing};
use crate::Query;
use crate::read::scan;

/// A value that metadata says, or why it doesn't.
#[derive(Clone, Debug, PartialEq)]
pub enum Stated<T> {
    /// The value, as the aggregate of all cells gives it.
    Exact(T),
    /// It takes a look at cells.
    Unknown(WhyUnknown),
}

impl<T> Stated<T> {
    /// The value, if it is exact.
    #[must_use]
    pub fn exact(&self) -> Option<&T> {
        match self {
            Self::Exact(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// What metadata says of the cells of a query and of one of its fields; each is what the [aggregate](Query::aggregate) of the same name
/// gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// How many cells there are: of a dense array, those that nobody wrote too.
    pub cells: Stated<u64>,
    /// How many cells have a value of the field.
    pub count: Stated<u64>,
    /// How many are null.
    pub nulls: Stated<u64>,
    /// The least value, in the bytes of a cell; none if there is no value.
    pub min: Stated<Option<Vec<u8>>>,
    /// The greatest value.
    pub max: Stated<Option<Vec<u8>>>,
    /// The sum; none if it is null, as that of no values of a nullable field is. Sums of floats depend on the order of adding.
    pub sum: Stated<Option<Sum>>,
}

impl Query {
    /// What metadata alone says of the query's cells and of the values of a field in them, as [`statistics_of`](Self::statistics_of) several.
    ///
    /// # Errors
    /// The field is unknown; metadata can't be read.
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        let mut all = self.stated(&[field])?;
        // There is one for each field.
        Ok(all.1.pop().unwrap_or_else(|| Statistics::unknown(all.0, WhyUnknown::NoStatistics)))
    }

    /// What metadata alone says of the query's cells and of the values of each of some fields in them, in the order of the fields: all of
    /// them at once. No tile is read, but of the sparse fragments that old releases wrote into dense arrays. Selected fields and the
    /// order don't matter, as in [`aggregate`](Self::aggregate).
    ///
    /// Of fragments that the query wants as a whole, which without ranges are all, it takes the totals where these can be relied on, and
    /// the statistics of their tiles elsewhere. What these say together is worked out once and kept as long as the array is open.
    ///
    /// # Errors
    /// A field is unknown; metadata can't be read.
    pub fn statistics_of<S: AsRef<str>>(&self, fields: impl IntoIterator<Item = S>) -> Result<Vec<Statistics>> {
        let fields: Vec<S> = fields.into_iter().collect();
        let names: Vec<&str> = fields.iter().map(AsRef::as_ref).collect();
        Ok(self.stated(&names)?.1)
    }

    /// What metadata alone says of how many cells the query has, as the `cells` of its [`statistics`](Self::statistics): it takes no
    /// field's statistics.
    ///
    /// # Errors
    /// Metadata can't be read.
    pub fn cell_count(&self) -> Result<Stated<u64>> {
        Ok(self.stated(&[])?.0)
    }

    /// How many cells there are, and what is known of fields.
    fn stated(&self, names: &[&str]) -> Result<(Stated<u64>, Vec<Statistics>)> {
        let schema = self.schema();
        let asked = Asked::of(schema, names)?;
        let mut query = self.for_scan(asked.fields())?;
        let mut stating = Stating::new(schema, &asked);
        let has_ranges_only = query.filter.is_none() && query.boxes.is_none();
        let cells = match schema.array_type() {
            ArrayType::Sparse if has_ranges_only => {
                fragmentwise::sparse(&query, &mut stating)?;
                stating.cells()
            }
            ArrayType::Sparse => {
                // No cell is read, so no file of a field needs to be open.
                query.fields = Arc::new([]);
                scan(query, &mut stating)?;
                stating.cells()
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
                stating.cells()
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
    /// What was found of a field.
    fn of(schema: &ArraySchema, field: FieldRef, cells: &Stated<u64>, stating: &Stating<'_>) -> Self {
        let nullable = OutputField::of(schema, field).nullable;
        let counts = stating.found(field, Thing::Counts);
        let bounds = stating.found(field, Thing::Bounds);
        let bounds = bounds.map(|summary| summary.bounds().map(|(min, max)| (min.to_vec(), max.to_vec())));
        let sum = stating.found(field, Thing::Sum).and_then(|summary| match summary.total().sum() {
            (_, false) => Err(WhyUnknown::TooLarge),
            // As in the reference library: of a field that may be null a sum of nothing is null.
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

    /// Nothing but how many cells there are.
    fn unknown(cells: Stated<u64>, why: WhyUnknown) -> Self {
        let (count, nulls) = (Stated::Unknown(why), Stated::Unknown(why));
        let (min, max, sum) = (Stated::Unknown(why), Stated::Unknown(why), Stated::Unknown(why));
        Self { cells, count, nulls, min, max, sum }
    }
}

impl<T> From<Result<T, WhyUnknown>> for Stated<T> {
    fn from(found: Result<T, WhyUnknown>) -> Self {
        found.map_or_else(Self::Unknown, Self::Exact)
    }
}

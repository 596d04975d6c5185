//! What metadata alone says of a field's cells, exactly.

use tdb_aggregate::Sum;

use super::columns::ResultColumns;
use super::function::Aggregate;
use super::measure::Measures;
use super::whole::{StatedWhole, state};
use crate::read::WhyUnknown;
use crate::{Array, ArrayError, Query, Result};

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

impl Array {
    /// What metadata alone says of all cells and of the values of a field.
    ///
    /// ```
    /// use tdb_array::{Array, Stated};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = Array::open(folder)?;
    /// match array.statistics("a")?.max {
    ///     Stated::Exact(max) => println!("{max:?}"),
    ///     Stated::Unknown(why) => println!("not known without a look at cells: {why}"),
    /// }
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Query::statistics`].
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        self.read().statistics(field)
    }
}

impl Query {
    /// What metadata alone says of the query's cells and of the values of a field in them. No tile is read, but of the sparse fragments
    /// that old releases wrote into dense arrays. Selected fields and the order don't matter, as in [`aggregate`](Self::aggregate).
    ///
    /// # Errors
    /// The field is unknown; metadata can't be read.
    pub fn statistics(&self, field: &str) -> Result<Statistics> {
        let cells = self.cell_count()?;
        let count = number(self.stated(Aggregate::count_of(field))?.0);
        let nulls = number(self.stated(Aggregate::null_count(field))?.0);
        let min = self.stated(Aggregate::min(field))?.0;
        let max = self.stated(Aggregate::max(field))?.0;
        let sum = match self.stated(Aggregate::sum(field))? {
            (Stated::Unknown(why), _) => Stated::Unknown(why),
            (Stated::Exact(bytes), datatype) => Stated::Exact(bytes.and_then(|bytes| {
                let word = word(&bytes)?;
                Some(match datatype {
                    Some(tdb_types::Datatype::Float64) => Sum::F64(f64::from_le_bytes(word)),
                    Some(tdb_types::Datatype::Int64) => Sum::I64(i64::from_le_bytes(word)),
                    _ => Sum::U64(u64::from_le_bytes(word)),
                })
            })),
        };
        Ok(Statistics { cells, count, nulls, min, max, sum })
    }

    /// What metadata alone says of how many cells the query has, as the `cells` of its [`statistics`](Self::statistics): it takes no
    /// field's statistics.
    ///
    /// # Errors
    /// Metadata can't be read.
    pub fn cell_count(&self) -> Result<Stated<u64>> {
        Ok(number(self.stated(Aggregate::count())?.0))
    }

    /// One aggregate, if metadata says it, in the bytes of its column, and the column's type.
    fn stated(&self, aggregate: Aggregate) -> Result<StatedCell> {
        let aggregates = [aggregate];
        let measures = match Measures::new(self.schema(), &[], &aggregates) {
            Err(ArrayError::Aggregate { .. }) => return Ok((Stated::Unknown(WhyUnknown::NotOfThisType), None)),
            measures => measures?,
        };
        let mut columns = ResultColumns::new(self.schema(), &[], &aggregates)?;
        let row = match state(self.for_scan(measures.fields())?, &measures)? {
            StatedWhole::Known(row) => row,
            StatedWhole::Unknown(why) => return Ok((Stated::Unknown(why), None)),
        };
        columns.push(&row, &[super::distribution::Found::Elsewhere], &measures);
        if !columns.saturated().is_empty() {
            return Ok((Stated::Unknown(WhyUnknown::TooLarge), None));
        }
        let batch = columns.finish();
        let column = batch.columns().first();
        let value = column.and_then(|column| column.cell(0).map(<[u8]>::to_vec));
        Ok((Stated::Exact(value), column.map(crate::Column::datatype)))
    }
}

/// The bytes of a value, none if it is null, and its type, if there is a value of it.
type StatedCell = (Stated<Option<Vec<u8>>>, Option<tdb_types::Datatype>);

const NONE: Stated<u64> = Stated::Unknown(WhyUnknown::NoStatistics);

fn number(found: Stated<Option<Vec<u8>>>) -> Stated<u64> {
    match found {
        Stated::Exact(Some(bytes)) => word(&bytes).map_or(NONE, |word| Stated::Exact(u64::from_le_bytes(word))),
        Stated::Exact(None) => NONE,
        Stated::Unknown(why) => Stated::Unknown(why),
    }
}

fn word(bytes: &[u8]) -> Option<[u8; 8]> {
    bytes.try_into().ok()
}

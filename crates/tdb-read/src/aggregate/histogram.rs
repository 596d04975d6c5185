//! Histograms of numeric fields.

use tdb_aggregate::Bins;
use tdb_query::CheckedQuery;
use tdb_query::scan::{FieldSet, KnownTile, Scan, ScanCells};
use tdb_snapshot::{ArrayError, Fragment, Result};
use tdb_types::Scalar;

use super::function::Aggregate;
use super::measure::Measures;
use super::statistics::KnownTiles;
use super::whole::summarise;
use crate::Query;
use crate::read::scan;

/// A histogram: the number of values in intervals of equal width, from the minimum to the maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The minimum finite value.
    pub low: f64,
    /// The maximum finite value.
    pub high: f64,
    /// The number of values in each interval. The last interval includes the upper end.
    pub counts: Vec<u64>,
    /// The number of NaNs and infinities.
    pub outside: u64,
}

impl Histogram {
    /// The maximum number of intervals.
    pub const MOST_INTERVALS: usize = 1 << 16;
}

impl Query {
    /// Computes a histogram of a field of numbers, dates or times, from the minimum to the maximum.
    /// Dates and times are in units of the field. Returns `None` if there are no finite values, if
    /// `intervals` is 0, or if the difference of maximum and minimum overflows a double.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
    /// let array = tdb_array::Array::open(folder)?;
    /// let histogram = array.read().histogram("a", 4)?.expect("there are values");
    /// assert_eq!(histogram.counts.len(), 4);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`aggregate`](Query::aggregate). [`ArrayError::Aggregate`] if the cells of the
    /// field are not single numbers, or if `intervals` exceeds [`Histogram::MOST_INTERVALS`].
    pub fn histogram(self, field: &str, intervals: usize) -> Result<Option<Histogram>> {
        if intervals > Histogram::MOST_INTERVALS {
            let why = format!("found {intervals} intervals, expected at most {}", Histogram::MOST_INTERVALS);
            return Err(ArrayError::Aggregate { aggregate: format!("histogram({field})"), why });
        }
        let asked = [Aggregate::mean(field), Aggregate::min(field)];
        let measures = Measures::new(self.schema(), &[], &asked)?;
        let Some((kind, _)) = measures.measured.first().copied() else { return Ok(None) };
        let Some(physical) = kind.number() else {
            let why = "the cells are not single numbers".to_owned();
            return Err(ArrayError::Aggregate { aggregate: format!("histogram({field})"), why });
        };
        let query = self.for_scan(&measures.fields)?;
        let (summaries, ..) = summarise(query.clone(), &measures)?;
        let double = |bytes: &[u8]| Scalar::from_le_bytes(physical, bytes).map_or(f64::NAN, Scalar::to_f64);
        let bounds = summaries.first().and_then(|summary| summary.bounds());
        let bounds = bounds.map(|(min, max)| (double(min), double(max)));
        let finite = match bounds {
            Some((low, high)) if low.is_finite() && high.is_finite() => Some((low, high)),
            // Infinities hide the finite bounds.
            Some(_) => finite_bounds(&self, field)?,
            None => None,
        };
        let Some(bins) = finite.and_then(|(low, high)| Bins::new(kind, low, high, intervals)) else { return Ok(None) };
        let bins = counted(query, &measures, bins)?;
        let (low, high) = bins.range();
        Ok(Some(Histogram { low, high, counts: bins.counts().to_vec(), outside: bins.outside() }))
    }
}

/// Returns the minimum and maximum finite value.
fn finite_bounds(query: &Query, field: &str) -> Result<Option<(f64, f64)>> {
    let name = tdb_condition::field(field);
    let finite = name.clone().gt(f64::NEG_INFINITY) & name.lt(f64::INFINITY);
    let found = query.clone().filter(finite).aggregate([Aggregate::min(field), Aggregate::max(field)])?;
    let values = found.batch().columns().iter().map(|column| {
        let bytes = column.cell(0)?;
        Scalar::from_le_bytes(column.datatype().physical(), bytes).map(Scalar::to_f64)
    });
    let values: Option<Vec<f64>> = values.collect();
    Ok(values.and_then(|values| Some((*values.first()?, *values.last()?))))
}

fn counted(query: CheckedQuery, measures: &Measures, bins: Bins) -> Result<Bins> {
    let array = query.array.clone();
    let mut spread = Spread { measures, array: array.schema(), bins };
    scan(query, &mut spread)?;
    Ok(spread.bins)
}

#[derive(Debug)]
struct Spread<'a> {
    measures: &'a Measures,
    array: &'a tdb_schema::ArraySchema,
    bins: Bins,
}

impl Scan for Spread<'_> {
    type Part = Bins;
    type Known = KnownTiles;

    fn part(&self) -> Bins {
        self.bins.part()
    }

    fn add_to(&self, part: &mut Bins, cells: &ScanCells<'_>) {
        let columns = cells.columns.iter().enumerate().filter(|(field, _)| !cells.left_out.contains(*field));
        columns.for_each(|(_, column)| part.add(column, cells.picked));
    }

    fn add(&mut self, part: Bins) {
        self.bins.merge(&part);
    }

    fn most_parts(&self, threads: usize) -> usize {
        2 * threads
    }

    fn known(&self, fragment: &Fragment) -> Option<KnownTiles> {
        Some(KnownTiles::of(fragment, self.array, self.measures))
    }

    fn add_known(&mut self, known: &KnownTiles, tile: KnownTile) -> FieldSet {
        let mut summaries = self.measures.summaries();
        let is_known = known.add(KnownTile { partly: false, ..tile }, &mut summaries).is_all();
        let [summary] = &summaries[..] else { return FieldSet::NONE };
        // NaNs are not between minimum and maximum.
        let has_nan = summary.total().mean(summary.values()).is_some_and(f64::is_nan);
        let is_one_bin = is_known
            && !has_nan
            && match summary.bounds() {
                None => summary.values() == 0,
                Some((min, max)) => self.bins.add_between(min, max, summary.values()),
            };
        if is_one_bin { FieldSet::ALL } else { FieldSet::NONE }
    }

    fn add_unwritten(&mut self, _cells: u128) -> bool {
        true
    }
}

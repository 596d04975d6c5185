//! Summaries of all cells of a query.

use tdb_aggregate::Summary;
use tdb_query::CheckedQuery;
use tdb_query::scan::{FieldSet, KnownTile, Scan, ScanCells, ScanCost};
use tdb_schema::ArraySchema;
use tdb_snapshot::{Fragment, Result};

use super::measure::Measures;
use super::statistics::KnownTiles;
use crate::read::scan;

/// Returns the summaries of the measured fields, the number of cells, and the number of tiles
/// visited.
pub(super) fn summarise(query: CheckedQuery, measures: &Measures) -> Result<(Vec<Summary>, u64, ScanCost)> {
    let array = query.array.clone();
    let mut whole = Whole::new(measures, array.schema());
    let cost = scan(query, &mut whole)?;
    Ok((whole.summaries, whole.cells, cost))
}

#[derive(Debug)]
struct Whole<'a> {
    measures: &'a Measures,
    array: &'a ArraySchema,
    summaries: Vec<Summary>,
    cells: u64,
}

impl<'a> Whole<'a> {
    fn new(measures: &'a Measures, array: &'a ArraySchema) -> Self {
        let summaries = measures.summaries();
        Self { measures, array, summaries, cells: 0 }
    }
}

impl Scan for Whole<'_> {
    type Part = (Vec<Summary>, u64);
    type Known = KnownTiles;

    fn part(&self) -> Self::Part {
        (self.measures.summaries(), 0)
    }

    fn add_to(&self, (summaries, count): &mut Self::Part, cells: &ScanCells<'_>) {
        let fields = summaries.iter_mut().zip(cells.columns).enumerate();
        let fields = fields.filter(|(field, _)| !cells.left_out.contains(*field));
        fields.for_each(|(_, (summary, column))| summary.add(column, cells.picked));
        *count = count.saturating_add(cells.picked.map_or(cells.count, <[u32]>::len) as u64);
    }

    fn add(&mut self, (summaries, cells): Self::Part) {
        self.cells = self.cells.saturating_add(cells);
        self.summaries.iter_mut().zip(&summaries).for_each(|(own, other)| own.merge(other));
    }

    fn most_parts(&self, _threads: usize) -> usize {
        1024
    }

    fn known(&self, fragment: &Fragment) -> Option<KnownTiles> {
        Some(KnownTiles::of(fragment, self.array, self.measures))
    }

    fn add_known(&mut self, known: &KnownTiles, tile: KnownTile) -> FieldSet {
        let added = known.add(tile, &mut self.summaries);
        if added.is_all() {
            self.cells = self.cells.saturating_add(tile.cells);
        }
        added
    }

    fn add_unwritten(&mut self, cells: u128) -> bool {
        self.cells = self.cells.saturating_add(u64::try_from(cells).unwrap_or(u64::MAX));
        true
    }
}

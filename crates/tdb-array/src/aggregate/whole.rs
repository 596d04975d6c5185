//! Summaries of all cells of a query.

use tdb_aggregate::{GroupRow, Summary};
use tdb_schema::ArraySchema;

use super::measure::Measures;
use super::statistics::KnownTiles;
use crate::query::CheckedQuery;
use crate::read::{FieldSet, KnownTile, Scan, ScanCells, ScanCost, WhyUnknown, scan};
use crate::{Fragment, Result};

/// Summaries of the measured fields, and how many cells there are.
pub(super) fn summarise(query: CheckedQuery, measures: &Measures) -> Result<(Vec<Summary>, u64, ScanCost)> {
    let array = query.array.clone();
    let mut whole = Whole::new(measures, array.schema());
    let cost = scan(query, &mut whole)?;
    Ok((whole.summaries, whole.cells, cost))
}

/// What metadata alone says.
pub(super) enum StatedWhole {
    Known(GroupRow),
    Unknown(WhyUnknown),
}

/// Summaries of the measured fields, if no cell has to be read for them.
pub(super) fn state(query: CheckedQuery, measures: &Measures) -> Result<StatedWhole> {
    let array = query.array.clone();
    let mut whole = Whole { reads: false, ..Whole::new(measures, array.schema()) };
    scan(query, &mut whole)?;
    Ok(match whole.ended {
        Some(why) => StatedWhole::Unknown(why),
        None => StatedWhole::Known(GroupRow { key: Vec::new(), cells: whole.cells, summaries: whole.summaries }),
    })
}

#[derive(Debug)]
struct Whole<'a> {
    measures: &'a Measures,
    array: &'a ArraySchema,
    summaries: Vec<Summary>,
    cells: u64,
    /// Whether cells are read of which nothing is known.
    reads: bool,
    /// Why a tile wasn't known.
    unknown: Option<WhyUnknown>,
    /// Why it ended where cells would have been read.
    ended: Option<WhyUnknown>,
}

impl<'a> Whole<'a> {
    fn new(measures: &'a Measures, array: &'a ArraySchema) -> Self {
        let summaries = measures.summaries();
        Self { measures, array, summaries, cells: 0, reads: true, unknown: None, ended: None }
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
        } else if !self.reads && self.unknown.is_none() {
            self.unknown = Some(known.why_unknown(tile.tile, self.measures));
        }
        added
    }

    fn add_unwritten(&mut self, cells: u128) -> bool {
        self.cells = self.cells.saturating_add(u64::try_from(cells).unwrap_or(u64::MAX));
        true
    }

    fn may_read(&mut self, why: WhyUnknown) -> bool {
        if !self.reads {
            self.ended = Some(self.unknown.unwrap_or(why));
        }
        self.reads
    }
}

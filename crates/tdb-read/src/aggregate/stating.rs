//! Accumulation of metadata statistics. Each kind of statistics may become unknown independently of
//! the others.

use tdb_aggregate::Summary;
use tdb_query::InexactReason;
use tdb_query::scan::{FieldSet, KnownTile, Scan, ScanCells};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, Fragment, Result};

use super::function::Aggregate;
use super::measure::Measures;
use super::statistics::KnownTiles;

/// The requested statistics of fields: counts, sums, minima and maxima.
#[derive(Debug)]
pub(super) struct Asked {
    measures: [Measures; 3],
}

/// A kind of statistics.
#[derive(Clone, Copy, Debug)]
pub(super) enum Thing {
    Counts,
    Sum,
    Bounds,
}

/// The accumulated statistics, or the reason why the statistics are unknown.
#[derive(Debug)]
pub(super) struct Stating<'a> {
    array: &'a ArraySchema,
    asked: &'a Asked,
    found: [Vec<Result<Summary, InexactReason>>; 3],
    pub(super) cells: Result<u64, InexactReason>,
}

/// The metadata statistics of a fragment, for each kind.
#[derive(Debug)]
pub(super) struct KnownFragment([KnownTiles; 3]);

impl Asked {
    /// Requests all statistics supported by the types of these fields.
    pub(super) fn of(schema: &ArraySchema, fields: &[&str]) -> Result<Self> {
        let measures = |aggregate: fn(String) -> Aggregate| {
            let all = fields.iter().map(|field| aggregate((*field).to_owned()));
            let has = |aggregate: &Aggregate| match super::measure::checked(schema, aggregate) {
                Err(ArrayError::Aggregate { .. }) => None,
                checked => Some(checked.map(|_| aggregate.clone())),
            };
            let all = all.filter_map(|aggregate| has(&aggregate)).collect::<Result<Vec<_>>>()?;
            Measures::new(schema, &[], &all)
        };
        // Null counts exist for all fields.
        Ok(Self { measures: [measures(Aggregate::null_count)?, measures(Aggregate::sum)?, measures(Aggregate::min)?] })
    }

    pub(super) fn fields(&self) -> &[FieldRef] {
        &self.measures[0].fields
    }
}

impl<'a> Stating<'a> {
    pub(super) fn new(array: &'a ArraySchema, asked: &'a Asked) -> Self {
        let summaries = |measures: &Measures| measures.summaries().into_iter().map(Ok).collect();
        Self { array, asked, found: asked.measures.each_ref().map(summaries), cells: Ok(0) }
    }

    /// Returns the statistics of a field.
    pub(super) fn found(&self, field: FieldRef, thing: Thing) -> Result<&Summary, InexactReason> {
        let place = self.asked.measures[thing as usize].place(field);
        let found = place.and_then(|place| self.found[thing as usize].get(place));
        found.map_or(Err(InexactReason::NotOfThisType), |found| found.as_ref().map_err(|why| *why))
    }

    /// Returns the metadata statistics of a fragment.
    pub(super) fn known_of(&self, fragment: &Fragment) -> KnownFragment {
        KnownFragment(self.asked.measures.each_ref().map(|measures| KnownTiles::of(fragment, self.array, measures)))
    }

    /// Adds all cells of a tile.
    pub(super) fn add_tile(&mut self, known: &KnownFragment, tile: KnownTile) {
        self.add_cells_of(tile.cells);
        self.each(known, |tiles, field, summary| tiles.add_tile(field, tile, summary));
    }

    /// Adds all cells of a fragment.
    pub(super) fn add_fragment(&mut self, known: &KnownFragment, cells: u64) {
        self.add_cells_of(cells);
        self.each(known, KnownTiles::add_all);
    }

    /// Marks all statistics as unknown.
    pub(super) fn end(&mut self, why: InexactReason) {
        self.cells = self.cells.and(Err(why));
        for found in self.found.iter_mut().flatten().filter(|found| found.is_ok()) {
            *found = Err(why);
        }
    }

    fn add_cells_of(&mut self, cells: u64) {
        self.cells = self.cells.map(|all| all.saturating_add(cells));
    }

    fn each(
        &mut self,
        known: &KnownFragment,
        add: impl Fn(&KnownTiles, usize, &mut Summary) -> Result<(), InexactReason>,
    ) {
        for (tiles, found) in known.0.iter().zip(&mut self.found) {
            for (field, found) in found.iter_mut().enumerate() {
                if let Ok(summary) = found
                    && let Err(why) = add(tiles, field, summary)
                {
                    *found = Err(why);
                }
            }
        }
    }
}

/// A scan without reading cells.
impl Scan for Stating<'_> {
    /// The number of cells unexpectedly visited.
    type Part = usize;
    type Known = KnownFragment;

    fn part(&self) -> usize {
        0
    }

    fn add_to(&self, part: &mut usize, cells: &ScanCells<'_>) {
        *part += cells.count;
    }

    fn add(&mut self, part: usize) {
        if part > 0 {
            self.end(InexactReason::NoStatistics);
        }
    }

    fn most_parts(&self, _threads: usize) -> usize {
        1
    }

    fn known(&self, fragment: &Fragment) -> Option<KnownFragment> {
        Some(self.known_of(fragment))
    }

    fn add_known(&mut self, known: &KnownFragment, tile: KnownTile) -> FieldSet {
        self.add_tile(known, tile);
        FieldSet::ALL
    }

    fn add_unwritten(&mut self, cells: u128) -> bool {
        self.add_cells_of(u64::try_from(cells).unwrap_or(u64::MAX));
        true
    }

    fn may_read(&mut self, why: InexactReason) -> bool {
        self.end(why);
        false
    }
}

//! Groups of a query's cells, in the order of the keys.

use std::fmt;

use tdb_aggregate::{GroupRow, Groups};
use tdb_query::scan::{FieldSet, KnownTile, Scan, ScanCells, ScanCost};
use tdb_query::{CheckedQuery, FillCell};
use tdb_schema::FieldRef;
use tdb_snapshot::{Fragment, Result};
use tdb_types::Cells;

use super::measure::Measures;
use crate::read::scan;

/// An iterator over the groups of a query's cells. Returns all groups with room in memory, then
/// computes further groups in another pass over the cells.
pub(super) struct SortedGroups {
    query: CheckedQuery,
    pub(super) measures: Measures,
    rows: Box<dyn Iterator<Item = GroupRow> + Send>,
    /// The state for the next pass. `None` after the last pass.
    rest: Option<Groups>,
    /// The maximum number of concurrent partial results. 0 for a single thread.
    parts: usize,
    /// The memory of a partial result in bytes.
    part_memory: usize,
    pub(super) cost: ScanCost,
    /// The number of returned groups.
    returned: usize,
}

/// The number of groups between two checks for a cancellation.
const GROUPS_OF_A_CHECK: usize = 1 << 12;

impl fmt::Debug for SortedGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SortedGroups").field("query", &self.query).field("rest", &self.rest).finish_non_exhaustive()
    }
}

impl SortedGroups {
    pub(super) fn new(query: CheckedQuery, measures: &Measures, memory: usize) -> Self {
        let parts = match query.array.workers().threads() {
            1 => 0,
            // If partial results are too small, they drop groups although memory is free.
            threads => (memory / 2 / LEAST_PART).clamp(1, threads * PARTS_PER_THREAD),
        };
        // Partial results share half of the memory.
        let (part_memory, memory) = (memory / (2 * parts).max(1), if parts == 0 { memory } else { memory / 2 });
        let groups = Groups::new(measures.key_shape(), &measures.measured, memory);
        let (measures, rows) = (measures.clone(), Box::new(std::iter::empty()));
        let (rest, cost) = (Some(groups), ScanCost::default());
        Self { query, measures, rows, rest, parts, part_memory, cost, returned: 0 }
    }

    /// Returns the next group, or `None` after the last group.
    pub(super) fn next_row(&mut self) -> Result<Option<GroupRow>> {
        loop {
            if let Some(row) = self.rows.next() {
                self.returned += 1;
                if self.returned.is_multiple_of(GROUPS_OF_A_CHECK) {
                    self.query.array.workers().check()?;
                }
                return Ok(Some(row));
            }
            let Some(groups) = self.rest.take() else { return Ok(None) };
            // Free the memory of the previous rows before allocating the next rows.
            self.rows = Box::new(std::iter::empty());
            let mut pass = Pass { measures: &self.measures, parts: self.parts, part_memory: self.part_memory, groups };
            self.cost.add(scan(self.query.clone(), &mut pass)?);
            let (rows, rest) = pass.groups.finish();
            self.rows = Box::new(rows);
            self.rest = rest;
        }
    }
}

/// A single pass over the cells.
#[derive(Debug)]
struct Pass<'a> {
    measures: &'a Measures,
    parts: usize,
    part_memory: usize,
    groups: Groups,
}

/// The minimum size of a partial result in bytes.
const LEAST_PART: usize = 4 << 20;
/// The maximum number of partial results per thread.
const PARTS_PER_THREAD: usize = 2;

fn add(measures: &Measures, groups: &mut Groups, cells: &ScanCells<'_>) {
    let keys = measures.keys;
    if measures.are_of_values && keys.checked_sub(1).is_some_and(|last| cells.left_out.contains(last)) {
        return;
    }
    let by = &cells.columns[..keys.min(cells.columns.len())];
    let measured = measures.places.iter();
    let measured =
        measured.map(|place| cells.columns.get(*place).copied().filter(|_| !cells.left_out.contains(*place)));
    groups.add(by, &measured.collect::<Vec<_>>(), cells.count, cells.picked);
}

impl Scan for Pass<'_> {
    type Part = Groups;
    type Known = ();

    fn part(&self) -> Groups {
        self.groups.part(self.part_memory)
    }

    fn add_to(&self, part: &mut Groups, cells: &ScanCells<'_>) {
        add(self.measures, part, cells);
    }

    fn add(&mut self, part: Groups) {
        self.groups.merge(part);
    }

    fn add_cells(&mut self, cells: &ScanCells<'_>) {
        add(self.measures, &mut self.groups, cells);
    }

    fn most_parts(&self, _threads: usize) -> usize {
        self.parts
    }

    fn known(&self, _fragment: &Fragment) -> Option<()> {
        None
    }

    fn add_known(&mut self, _known: &(), _tile: KnownTile) -> FieldSet {
        FieldSet::NONE
    }

    fn add_unwritten(&mut self, cells: u128) -> bool {
        if cells == 0 || self.measures.are_of_values {
            return true;
        }
        let keys = &self.measures.fields[..self.measures.keys];
        if keys.iter().any(|field| matches!(field, FieldRef::Dimension(_))) {
            return false;
        }
        let fill: Vec<FillCell> = self.measures.outputs[..keys.len()].iter().map(FillCell::of).collect();
        let fill: Vec<Cells<'_>> = fill.iter().map(FillCell::cell).collect();
        self.groups.add_same(&fill, u64::try_from(cells).unwrap_or(u64::MAX));
        true
    }
}

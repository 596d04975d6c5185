//! An unfiltered tile of a fragment, with the sort keys of its cells.

use std::cmp::{Ordering, Reverse};
use std::sync::OnceLock;

use tdb_cells::CellBuffers;
use tdb_cells::order::cell_order::{CellColumns, CellOrder};
use tdb_cells::order::key::Key;

use super::columns::{Columns, Times};

/// A tile with cells in global order. Among cells with equal coordinates, the cell visible to
/// readers comes first.
#[derive(Debug)]
pub(super) struct Loaded<K> {
    pub(super) columns: Columns,
    pub(super) keys: Vec<K>,
    /// Coordinates that order cells with equal keys. `None` if the keys are exact.
    pub(super) ties: Option<CellColumns>,
    /// Index of the source.
    pub(super) source: usize,
    /// Index of the tile in the source.
    pub(super) tile: u64,
    /// `true` if the cells are in stored order.
    pub(super) is_as_stored: bool,
}

/// The order of cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    pub(super) order: &'a CellOrder,
    /// `true` if cells with equal coordinates are versions of one cell.
    pub(super) distinct: bool,
}

impl<K: Key> Loaded<K> {
    /// Returns the tile in stored order, or `None` if its cells are out of order.
    pub(super) fn in_order(rules: Rules<'_>, source: usize, tile: u64, columns: Columns) -> Option<Self> {
        let loaded = Self::new(rules, source, tile, columns);
        let cells = loaded.columns.cells;
        (1..cells).all(|cell| loaded.follows(rules, cell, &loaded, cell - 1)).then_some(loaded)
    }

    /// Returns the tile sorted, with only the cells whose keys satisfy `stays`.
    pub(super) fn sorted(
        rules: Rules<'_>,
        source: usize,
        tile: u64,
        columns: Columns,
        stays: impl Fn(K) -> bool,
    ) -> Self {
        let loaded = Self::new(rules, source, tile, columns);
        let has_times = loaded.has_times();
        let all = (0u32..).zip(&loaded.keys);
        let mut cells: Vec<u32> = all.filter(|(_, key)| stays(**key)).map(|(cell, _)| cell).collect();
        cells.sort_unstable_by(|a, b| {
            let (a, b) = (*a as usize, *b as usize);
            let ordering = loaded.place(rules, a, &loaded, b).then_with(|| loaded.newer_first(a, &loaded, b));
            // In a fragment with timestamps, readers see the first stored cell, otherwise the last.
            ordering.then_with(|| if has_times { a.cmp(&b) } else { b.cmp(&a) })
        });
        if cells.len() == loaded.columns.cells && cells.is_sorted() {
            return loaded;
        }
        let Columns { mut fields, coordinates, times, mut fated, cells: count, .. } = loaded.columns;
        for field in fields.iter_mut().filter_map(OnceLock::get_mut).filter(|field| field.has_values()) {
            let size = field.values.len() / count.max(1);
            let mut moved = CellBuffers::default();
            moved.push_some(&field.cells(size.max(1)), &cells, !field.validity.is_empty());
            *field = moved;
        }
        if let Some(fated) = &mut fated {
            fated.reorder(&cells);
        }
        let times = match times {
            Times::All(time) => Times::All(time),
            Times::Each(times) => Times::Each(cells.iter().map(|cell| times[*cell as usize]).collect()),
        };
        let keys = cells.iter().map(|cell| loaded.keys[*cell as usize]).collect();
        let ties = loaded.ties.map(|ties| ties.of_cells(&cells));
        let count = cells.len();
        let columns =
            Columns { fields, coordinates, times, fated, cells: count, missing: Vec::new(), missing_bytes: 0 };
        Self { columns, keys, ties, source, tile, is_as_stored: false }
    }

    fn new(rules: Rules<'_>, source: usize, tile: u64, mut columns: Columns) -> Self {
        let coordinates = std::mem::take(&mut columns.coordinates);
        let keys = rules.order.keys(&coordinates, columns.cells);
        let ties = (!rules.order.is_exact()).then(|| rules.order.columns(coordinates));
        Self { columns, keys, ties, source, tile, is_as_stored: true }
    }

    /// Returns `true` if the fragment stores a timestamp per cell.
    fn has_times(&self) -> bool {
        matches!(self.columns.times, Times::Each(_))
    }

    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let ties = self.ties.as_ref().map_or(0, CellColumns::memory);
        let times = if matches!(self.columns.times, Times::Each(_)) { 8 } else { 0 };
        let fated = if self.columns.fated.is_some() { 16 } else { 0 };
        self.columns.memory_of_fields() + ties + (size_of::<K>() + times + fated) * self.columns.cells
    }

    /// Compares two cells by coordinates.
    #[inline]
    pub(super) fn place(&self, rules: Rules<'_>, cell: usize, other: &Self, other_cell: usize) -> Ordering {
        self.keys[cell].cmp(&other.keys[other_cell]).then_with(|| match (&self.ties, &other.ties) {
            (Some(own), Some(others)) => rules.order.compare((own, cell), (others, other_cell)),
            _ => Ordering::Equal,
        })
    }

    fn newer_first(&self, cell: usize, other: &Self, other_cell: usize) -> Ordering {
        Reverse(self.columns.times.of(cell)).cmp(&Reverse(other.columns.times.of(other_cell)))
    }

    /// Returns `true` if a cell may follow the cell `before_cell` of the same fragment.
    pub(super) fn follows(&self, rules: Rules<'_>, cell: usize, before: &Self, before_cell: usize) -> bool {
        match before.place(rules, before_cell, self, cell) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal if !rules.distinct => true,
            // Without timestamps, readers see the last stored cell, so the order must be reversed
            // by a sort.
            Ordering::Equal => self.has_times() && before.columns.times.of(before_cell) >= self.columns.times.of(cell),
        }
    }

    /// Returns `true` if this tile may follow `before`, the previous tile of the same fragment.
    pub(super) fn is_behind(&self, rules: Rules<'_>, before: &Self) -> bool {
        let last = before.keys.len().checked_sub(1).filter(|_| !self.keys.is_empty());
        last.is_none_or(|last| self.follows(rules, 0, before, last))
    }

    /// Compares two cells of any fragments, by coordinates and then newest first.
    pub(super) fn compare(&self, rules: Rules<'_>, cell: usize, (other, other_cell): (&Self, usize)) -> Ordering {
        let place = self.place(rules, cell, other, other_cell);
        place.then_with(|| self.newer_first(cell, other, other_cell)).then_with(|| {
            let stored = || match self.has_times() {
                true => self.tile.cmp(&other.tile),
                false => other.tile.cmp(&self.tile),
            };
            other.source.cmp(&self.source).then_with(stored)
        })
    }
}

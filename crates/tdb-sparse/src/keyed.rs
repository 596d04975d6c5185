//! A tile's matching cells with sort keys.

use std::cmp::Ordering;

use tdb_cells::TileScratch;
use tdb_cells::order::cell_order::{CellColumns, CellOrder};
use tdb_cells::order::entries::Entries;
use tdb_cells::order::key::{Entry, Key};
use tdb_snapshot::Result;

use crate::cells::{Look, Want, WantedCells};
use crate::context::Context;
use crate::held::Held;
use crate::selected::SelectedTile;

/// The matching cells of a tile, by *position*. Positions count matching cells only, while an index
/// counts all cells of the tile.
#[derive(Debug)]
pub(super) struct Keyed<K> {
    /// Slot in the [`TileTable`](crate::table::TileTable).
    pub(super) slot: u32,
    /// Index of the tile's source.
    pub(super) source: usize,
    pub(super) tile: SelectedTile,
    /// Key of each matching cell.
    pub(super) keys: Vec<K>,
    /// Index of each matching cell. `None` if positions and indices are equal.
    cells: Option<Vec<u32>>,
    /// Timestamp of each cell, by index. Present if the fragment stores timestamps and the read
    /// removes duplicates.
    times: Option<Vec<u64>>,
    /// Timestamp of cells without a separate timestamp.
    time: u64,
    /// Marks cells that are deleted or fail a condition, by index.
    deleted: Option<Vec<bool>>,
    /// Coordinates that order cells with equal keys.
    columns: Option<CellColumns>,
    /// Indices of the cells in `columns`, ascending. `None` if `columns` holds all cells of the
    /// tile.
    column_cells: Option<Vec<u32>>,
    forgotten: bool,
}

impl<K: Key> Keyed<K> {
    /// Unfilters a tile and computes the keys. Also returns unfiltered cells of selected fields.
    pub(super) fn load(
        context: &Context,
        order: &CellOrder,
        source: usize,
        tile: &SelectedTile,
        scratch: &mut TileScratch,
    ) -> Result<(Self, Vec<(usize, Held)>)> {
        let want = if context.must_deduplicate() { Want::Versions } else { Want::Coordinates };
        let from = &context.sources[source];
        let look = Look { context, source: from, tile, want };
        let mut wanted = WantedCells::load(look, scratch)?;
        let cells = wanted.len(tile);
        // The comparison of cells with equal keys looks up coordinates by cell index.
        let all = !order.is_exact() && cells > 0;
        let coordinates = wanted.take_coordinates(look, all);
        let mut keys = K::pool(&context.spares.keys).take();
        match &wanted.kept {
            _ if cells == 0 => keys.clear(),
            Some(kept) if all => order.keys_of(&coordinates, kept, &mut keys),
            _ => order.keys_into(&coordinates, cells, &mut keys),
        }
        let columns = if all {
            Some(order.columns(coordinates))
        } else {
            coordinates.into_iter().for_each(|coordinates| context.spares.give_coordinates(coordinates));
            None
        };
        let keyed = Self {
            slot: 0,
            source,
            tile: *tile,
            keys,
            cells: wanted.kept,
            times: wanted.times.filter(|_| want == Want::Versions),
            time: from.time(),
            deleted: wanted.deleted,
            columns,
            column_cells: None,
            forgotten: false,
        };
        Ok((keyed, wanted.fields))
    }

    /// Creates a tile with these keys. All cells match.
    #[cfg(test)]
    pub(super) fn of_keys(slot: u32, source: usize, keys: Vec<K>) -> Self {
        let (cells, times, deleted, columns, column_cells) = (None, None, None, None, None);
        let tile = SelectedTile { tile: slot.into(), cells: u32::MAX, full: true, given: 0, passes: 0 };
        Self { slot, source, tile, keys, cells, times, time: 0, deleted, columns, column_cells, forgotten: false }
    }

    /// Returns the number of matching cells.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the index of the cell at a position.
    #[inline]
    pub(super) fn cell(&self, position: usize) -> u32 {
        match &self.cells {
            None => u32::try_from(position).unwrap_or(u32::MAX),
            Some(cells) => cells[position],
        }
    }

    /// Returns the indices of the cells at a range of positions, or `None` if indices equal
    /// positions.
    pub(super) fn cells(&self, positions: std::ops::Range<usize>) -> Option<&[u32]> {
        self.cells.as_ref().map(|cells| &cells[positions])
    }

    /// Appends the cells with keys `start..=end`.
    pub(super) fn append_between(&self, start: K, end: K, entries: &mut Entries<K::Entry>) {
        let bounds =
            self.keys.iter().fold((K::HIGHEST, K::default()), |(low, high), key| (low.min(*key), high.max(*key)));
        let whole = start <= bounds.0 && bounds.1 <= end;
        let keys = self.keys.iter().copied();
        // Most tiles are completely inside a slab and need no comparison per cell.
        match &self.cells {
            None if whole => entries.extend(keys.zip(0..).map(|(key, cell)| Entry::new(key, self.slot, cell))),
            Some(cells) if whole => {
                entries.extend(keys.zip(cells).map(|(key, cell)| Entry::new(key, self.slot, *cell)));
            }
            _ => {
                let inside = keys.enumerate().filter(|(_, key)| (start..=end).contains(key));
                entries.extend(inside.map(|(position, key)| Entry::new(key, self.slot, self.cell(position))));
            }
        }
    }

    /// Returns `true` if cells of the fragment may be versions of each other. If `false`, all cells
    /// with equal coordinates are kept.
    pub(super) fn has_versions(&self) -> bool {
        self.times.is_some()
    }

    /// Returns the rank of a cell among cells with equal coordinates. The highest rank is kept,
    /// together with cells of the [same write](Self::counts_as).
    pub(super) fn version(&self, cell: u32) -> (u64, usize, u64, u32) {
        match &self.times {
            None => (self.time, self.source, self.tile.tile, cell),
            // Consolidation stores the newer cell first, even for cells with equal timestamps.
            Some(times) => (times[cell as usize], self.source, u64::MAX - self.tile.tile, u32::MAX - cell),
        }
    }

    /// Returns `true` if a cell is kept because the `newest` cell, which has the same coordinates,
    /// is kept.
    pub(super) fn counts_as(&self, cell: u32, (newest, other_cell): (&Self, u32)) -> bool {
        self.source == newest.source && (!self.has_versions() || (self.slot, cell) == (newest.slot, other_cell))
    }

    /// Returns `true` if the tile may have cells marked as deleted.
    pub(super) fn has_deleted(&self) -> bool {
        self.deleted.is_some()
    }

    /// Returns `true` if the cell is marked as deleted.
    pub(super) fn is_deleted(&self, cell: u32) -> bool {
        self.deleted.as_ref().is_some_and(|deleted| deleted[cell as usize])
    }

    /// Compares two cells with equal keys, given by index.
    pub(super) fn compare_equal(&self, order: &CellOrder, cell: u32, other: &Self, other_cell: u32) -> Ordering {
        match (&self.columns, &other.columns) {
            (Some(a), Some(b)) => order.compare((a, self.row(cell)), (b, other.row(other_cell))),
            _ => Ordering::Equal,
        }
    }

    /// Returns a cell's row in `columns`.
    fn row(&self, cell: u32) -> usize {
        match &self.column_cells {
            None => cell as usize,
            Some(cells) => cells.partition_point(|other| *other < cell),
        }
    }

    /// Sorts the cells. If cells may be versions of each other, keeps only the newest version of
    /// each cell.
    pub(super) fn make_mergeable(&mut self, order: &CellOrder) {
        if self.ascends(order) {
            return;
        }
        let mut positions: Vec<usize> = (0..self.len()).collect();
        // A stable sort, so that cells with equal coordinates keep the stored order.
        positions.sort_by(|a, b| self.compare(order, *a, *b));
        if self.has_versions() {
            let mut best: Vec<usize> = Vec::with_capacity(positions.len());
            for position in positions {
                match best.last_mut() {
                    Some(last) if self.compare(order, *last, position).is_eq() => {
                        if self.version(self.cell(position)) > self.version(self.cell(*last)) {
                            *last = position;
                        }
                    }
                    _ => best.push(position),
                }
            }
            positions = best;
        }
        self.keep(&positions);
    }

    /// Returns `true` if the cells are in order, and strictly ascending if they may be versions of
    /// each other.
    fn ascends(&self, order: &CellOrder) -> bool {
        let distinct = self.has_versions();
        // The comparison has no branch per cell, since nearly all tiles are in order.
        let followers = self.keys.get(1..).unwrap_or_default();
        let pairs = || self.keys.iter().zip(followers);
        if order.is_exact() && !distinct {
            return pairs().fold(true, |ascends, (a, b)| ascends & (a <= b));
        }
        if pairs().fold(true, |ascends, (a, b)| ascends & (a < b)) {
            return true;
        }
        let is_after = |position| match self.compare(order, position, position + 1) {
            Ordering::Less => true,
            Ordering::Equal => !distinct,
            Ordering::Greater => false,
        };
        (0..followers.len()).all(is_after)
    }

    /// Compares the cells at two positions.
    fn compare(&self, order: &CellOrder, a: usize, b: usize) -> Ordering {
        self.keys[a].cmp(&self.keys[b]).then_with(|| self.compare_equal(order, self.cell(a), self, self.cell(b)))
    }

    /// Returns `true` if all cells precede the cells of `next`, a later tile of the same fragment.
    /// Both tiles must be [sorted](Self::make_mergeable) and not empty. Returns `false` if both
    /// tiles hold a version of the same cell.
    pub(super) fn is_before(&self, order: &CellOrder, next: &Self) -> bool {
        let (Some(last), Some(first)) = (self.keys.last(), next.keys.first()) else { return true };
        let equal = || self.compare_equal(order, self.cell(self.len() - 1), next, next.cell(0));
        match last.cmp(first).then_with(equal) {
            Ordering::Less => true,
            Ordering::Equal => !self.has_versions(),
            Ordering::Greater => false,
        }
    }

    fn keep(&mut self, positions: &[usize]) {
        self.cells = Some(positions.iter().map(|position| self.cell(*position)).collect());
        self.keys = positions.iter().map(|position| self.keys[*position]).collect();
    }

    /// Drops the keys, and all coordinates except for cells with keys `start..=end`.
    pub(super) fn forget_keys(&mut self, start: K, end: K) {
        if let Some(columns) = self.columns.take() {
            let inside = self.keys.iter().enumerate().filter(|(_, key)| (start..=end).contains(key));
            let cells: Vec<u32> = inside.map(|(position, _)| self.cell(position)).collect();
            self.columns = Some(columns.of_cells(&cells));
            self.column_cells = Some(cells);
        }
        self.keys = Vec::new();
        self.cells = None;
        self.forgotten = true;
    }

    /// Returns `true` if the keys were dropped.
    pub(super) fn has_forgotten_keys(&self) -> bool {
        self.forgotten
    }

    /// Returns buffers to the pools.
    pub(super) fn give_back(self, context: &Context) {
        K::pool(&context.spares.keys).give(self.keys);
        for coordinates in self.columns.into_iter().flat_map(CellColumns::into_coordinates) {
            context.spares.give_coordinates(coordinates);
        }
    }

    /// Returns the memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let cells = self.cells.as_ref().map_or(0, |cells| 4 * cells.len());
        let times = self.times.as_ref().map_or(0, |times| 8 * times.len());
        let columns = self.columns.as_ref().map_or(0, CellColumns::memory);
        let column_cells = self.column_cells.as_ref().map_or(0, |cells| 4 * cells.len());
        let deleted = self.deleted.as_ref().map_or(0, Vec::len);
        self.keys.len() * size_of::<K>() + cells + times + deleted + columns + column_cells
    }
}

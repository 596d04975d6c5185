//! A tile's wanted cells with their sort keys.

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

/// The wanted cells of a tile, by *position*: the first one has position 0, whatever its index in the tile is.
#[derive(Debug)]
pub(super) struct Keyed<K> {
    /// The tile's place in the table.
    pub(super) slot: u32,
    /// Whose tile it is.
    pub(super) source: usize,
    /// Which of its tiles.
    pub(super) tile: SelectedTile,
    /// The key of each wanted cell.
    pub(super) keys: Vec<K>,
    /// The index of each wanted cell; none if it is the position.
    cells: Option<Vec<u32>>,
    /// By index: when cells were written, if the fragment says so and it matters: of cells with equal coordinates one counts then.
    times: Option<Vec<u64>>,
    /// When cells without a time of their own were written.
    time: u64,
    /// By index: which cells stand for a deletion.
    deleted: Option<Vec<bool>>,
    /// What decides between equal keys.
    columns: Option<CellColumns>,
    /// The indices of the cells that the columns are of, ascending; absent if they are of all cells.
    column_cells: Option<Vec<u32>>,
    forgotten: bool,
}

impl<K: Key> Keyed<K> {
    /// Unfilters what is needed, and also gives what can be shown of it.
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
        // Cells with equal keys are compared by what all cells of the tile have.
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

    /// A tile all of whose cells are wanted; only their keys differ.
    #[cfg(test)]
    pub(super) fn of_keys(slot: u32, source: usize, keys: Vec<K>) -> Self {
        let (cells, times, deleted, columns, column_cells) = (None, None, None, None, None);
        let tile = SelectedTile { tile: slot.into(), cells: u32::MAX, full: true, given: 0, passes: 0 };
        Self { slot, source, tile, keys, cells, times, time: 0, deleted, columns, column_cells, forgotten: false }
    }

    /// How many cells are wanted.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The index in the tile of the cell at a position.
    #[inline]
    pub(super) fn cell(&self, position: usize) -> u32 {
        match &self.cells {
            None => u32::try_from(position).unwrap_or(u32::MAX),
            Some(cells) => cells[position],
        }
    }

    /// The indices of the cells at some positions; none if they are the positions.
    pub(super) fn cells(&self, positions: std::ops::Range<usize>) -> Option<&[u32]> {
        self.cells.as_ref().map(|cells| &cells[positions])
    }

    /// Appends the cells with keys `start..=end`.
    pub(super) fn append_between(&self, start: K, end: K, entries: &mut Entries<K::Entry>) {
        let bounds =
            self.keys.iter().fold((K::HIGHEST, K::default()), |(low, high), key| (low.min(*key), high.max(*key)));
        let whole = start <= bounds.0 && bounds.1 <= end;
        let keys = self.keys.iter().copied();
        // Most tiles lie in a slab as a whole: no cell of theirs needs a look.
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

    /// Whether cells may be versions of each other; if not, cells of the fragment with equal coordinates all count.
    pub(super) fn has_versions(&self) -> bool {
        self.times.is_some()
    }

    /// What decides between cells with equal coordinates: the greatest counts, and with it what [counts alike](Self::counts_as).
    pub(super) fn version(&self, cell: u32) -> (u64, usize, u64, u32) {
        match &self.times {
            None => (self.time, self.source, self.tile.tile, cell),
            // Whoever joins fragments stores the newer cell first, also of those that were written at the same time.
            Some(times) => (times[cell as usize], self.source, u64::MAX - self.tile.tile, u32::MAX - cell),
        }
    }

    /// Whether a cell counts if that of `newest` counts, which has the same coordinates.
    pub(super) fn counts_as(&self, cell: u32, (newest, other_cell): (&Self, u32)) -> bool {
        self.source == newest.source && (!self.has_versions() || (self.slot, cell) == (newest.slot, other_cell))
    }

    /// Whether any cell stands for a deletion.
    pub(super) fn has_deleted(&self) -> bool {
        self.deleted.is_some()
    }

    /// Whether the cell stands for a deletion.
    pub(super) fn is_deleted(&self, cell: u32) -> bool {
        self.deleted.as_ref().is_some_and(|deleted| deleted[cell as usize])
    }

    /// Compares cells, given by their indices, whose keys are equal.
    pub(super) fn compare_equal(&self, order: &CellOrder, cell: u32, other: &Self, other_cell: u32) -> Ordering {
        match (&self.columns, &other.columns) {
            (Some(a), Some(b)) => order.compare((a, self.row(cell)), (b, other.row(other_cell))),
            _ => Ordering::Equal,
        }
    }

    /// The place of a cell in the columns.
    fn row(&self, cell: u32) -> usize {
        match &self.column_cells {
            None => cell as usize,
            Some(cells) => cells.partition_point(|other| *other < cell),
        }
    }

    /// Puts the cells in order, whatever order the tile has them in. Leaves of versions of a cell the one that counts.
    pub(super) fn make_mergeable(&mut self, order: &CellOrder) {
        if self.ascends(order) {
            return;
        }
        let mut positions: Vec<usize> = (0..self.len()).collect();
        // Cells that stay next to each other keep the order that they were stored in.
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

    /// Whether the cells are in order, and all different if they may be versions of each other.
    fn ascends(&self, order: &CellOrder) -> bool {
        let distinct = self.has_versions();
        // Without a branch per cell, as nearly all tiles are in order.
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

    /// Whether all cells come before those of `next`, a tile of the same fragment, both being [in order](Self::make_mergeable) and
    /// neither empty. Versions of a cell don't.
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

    /// Lets go of keys, of which no more are needed for now, and of all that isn't about cells with keys `start..=end`.
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

    /// Whether keys have been let go of.
    pub(super) fn has_forgotten_keys(&self) -> bool {
        self.forgotten
    }

    /// Gives memory back.
    pub(super) fn give_back(self, context: &Context) {
        K::pool(&context.spares.keys).give(self.keys);
        for coordinates in self.columns.into_iter().flat_map(CellColumns::into_coordinates) {
            context.spares.give_coordinates(coordinates);
        }
    }

    /// Bytes of memory that are held.
    pub(super) fn memory(&self) -> usize {
        let cells = self.cells.as_ref().map_or(0, |cells| 4 * cells.len());
        let times = self.times.as_ref().map_or(0, |times| 8 * times.len());
        let columns = self.columns.as_ref().map_or(0, CellColumns::memory);
        let column_cells = self.column_cells.as_ref().map_or(0, |cells| 4 * cells.len());
        let deleted = self.deleted.as_ref().map_or(0, Vec::len);
        self.keys.len() * size_of::<K>() + cells + times + deleted + columns + column_cells
    }
}

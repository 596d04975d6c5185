//! Looking at all cells of a query once, in whatever order.

use tdb_types::Cells;

use crate::{Batch, Fragment};

/// Takes the cells of a query, each of them once.
///
/// Tiles are looked at by several threads, each of which makes a part of what is sought; parts are put together in the order of the
/// tiles, so that nothing depends on the threads but the rounding of sums of floats.
pub(crate) trait Scan: Send + Sync {
    /// What is made of some cells.
    type Part: Send;
    /// What is known of a fragment's tiles.
    type Known;

    /// Makes a part.
    fn part(&self, cells: &ScanCells<'_>) -> Self::Part;

    /// Adds it.
    fn add(&mut self, part: Self::Part);

    /// Adds cells, where one thread does all.
    fn add_cells(&mut self, cells: &ScanCells<'_>) {
        let part = self.part(cells);
        self.add(part);
    }

    /// How many parts there may be at a time; each of them takes memory.
    fn most_parts(&self, threads: usize) -> usize;

    /// What a fragment's metadata says of its tiles, if that may do.
    fn known(&self, fragment: &Fragment) -> Option<Self::Known>;

    /// Adds all cells of a tile without a look at them, as far as what is known says what is sought: all fields or none, or,
    /// if the others can be left to [`add`](Self::add), some.
    fn add_known(&mut self, known: &Self::Known, tile: KnownTile) -> FieldSet;

    /// Adds cells that nobody wrote, if it doesn't matter where they are; whether it doesn't.
    fn add_unwritten(&mut self, cells: u128) -> bool;
}

/// Some cells: those with the picked indices, or all so many. The columns are those of the query's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanCells<'a> {
    pub(crate) columns: &'a [Cells<'a>],
    pub(crate) count: usize,
    pub(crate) picked: Option<&'a [u32]>,
    /// The fields that were added already, whose columns are empty.
    pub(crate) added: FieldSet,
}

/// A tile that is wanted as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownTile {
    pub(crate) tile: u64,
    pub(crate) cells: u64,
    /// Whether some fields may be added without the others.
    pub(crate) partly: bool,
}

/// Some of a query's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSet {
    all: bool,
    /// Of the first ones.
    bits: u64,
}

impl FieldSet {
    pub(crate) const ALL: Self = Self { all: true, bits: u64::MAX };
    /// How many fields there is room for, unless it has all.
    pub(crate) const MOST: usize = 64;
    pub(crate) const NONE: Self = Self { all: false, bits: 0 };

    pub(crate) fn insert(&mut self, field: usize) {
        self.bits |= u32::try_from(field).ok().and_then(|field| 1_u64.checked_shl(field)).unwrap_or(0);
    }

    pub(crate) fn contains(self, field: usize) -> bool {
        let bit = u32::try_from(field).ok().and_then(|field| self.bits.checked_shr(field)).unwrap_or(0);
        self.all || bit & 1 != 0
    }

    pub(crate) fn is_all(self) -> bool {
        self.all
    }
}

/// How the cells of a query were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanCost {
    /// Tiles of which metadata said enough.
    pub(crate) known: u64,
    /// Tiles that were read.
    pub(crate) read: u64,
}

impl ScanCost {
    pub(crate) fn add(&mut self, other: Self) {
        self.known += other.known;
        self.read += other.read;
    }
}

/// Adds the cells of a batch.
pub(super) fn add_batch<S: Scan>(scan: &mut S, batch: &Batch) {
    let columns: Vec<Cells<'_>> = batch.columns().iter().map(crate::Column::cells).collect();
    scan.add_cells(&ScanCells { columns: &columns, count: batch.len(), picked: None, added: FieldSet::NONE });
}

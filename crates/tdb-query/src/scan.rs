//! Scans: visiting each cell of a query once, in any order.

use tdb_cells::Batch;
use tdb_snapshot::Fragment;
use tdb_types::Cells;

use crate::unknown::InexactReason;

/// A consumer of the cells of a query. Each cell is visited once.
///
/// Several threads visit tiles, and each thread builds partial results. Partial results are merged
/// in the order of the tiles. Only the rounding of sums of floats depends on threads.
pub trait Scan: Send + Sync {
    /// A partial result over a part of the cells.
    type Part: Send;
    /// Statistics of a fragment's tiles.
    type Known;

    /// Creates a partial result without cells.
    fn part(&self) -> Self::Part;

    /// Adds cells to a partial result.
    fn add_to(&self, part: &mut Self::Part, cells: &ScanCells<'_>);

    /// Merges a partial result.
    fn add(&mut self, part: Self::Part);

    /// Adds cells on a single thread.
    fn add_cells(&mut self, cells: &ScanCells<'_>) {
        let mut part = self.part();
        self.add_to(&mut part, cells);
        self.add(part);
    }

    /// Returns the maximum number of concurrent partial results, each with separate memory.
    fn most_parts(&self, threads: usize) -> usize;

    /// Returns the statistics of a fragment's tiles, if they may suffice.
    fn known(&self, fragment: &Fragment) -> Option<Self::Known>;

    /// Adds all cells of a tile from statistics, as far as these suffice. Returns the added fields.
    /// If [`tile.partly`](KnownTile::partly) is not set, adds all fields or none. The caller reads
    /// the remaining fields.
    fn add_known(&mut self, known: &Self::Known, tile: KnownTile) -> FieldSet;

    /// Adds unwritten cells of a dense array. Returns `false` if positions of cells matter.
    fn add_unwritten(&mut self, cells: u128) -> bool;

    /// Returns `true` if cells may be read. `why` is the reason for reading cells. If
    /// [`add_known`](Self::add_known) has not added a tile, the actual reason may differ. After
    /// `false` the scan stops and is incomplete.
    fn may_read(&mut self, why: InexactReason) -> bool {
        let _ = why;
        true
    }
}

/// Cells of a query, with a column for each field of the query. Only the picked cells count, or all
/// `count` cells if `picked` is `None`.
#[derive(Clone, Copy, Debug)]
pub struct ScanCells<'a> {
    /// The cells of each field.
    pub columns: &'a [Cells<'a>],
    /// The number of cells in each column.
    pub count: usize,
    /// The indices of the picked cells, ascending. `None` for all cells.
    pub picked: Option<&'a [u32]>,
    /// Fields to skip. Columns of fields already added from statistics are empty. Columns of fields
    /// never written contain fill values.
    pub left_out: &'a FieldSet,
}

/// A tile with only selected cells.
#[derive(Clone, Copy, Debug)]
pub struct KnownTile {
    /// The index of the tile in the fragment.
    pub tile: u64,
    /// The number of cells.
    pub cells: u64,
    /// `true` if the scan may add some fields from statistics and read the other fields.
    pub partly: bool,
}

/// A subset of a query's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    all: bool,
    /// For each field, `true` if the field is in the set. Later fields are not in the set.
    fields: Vec<bool>,
}

impl FieldSet {
    /// All fields.
    pub const ALL: Self = Self { all: true, fields: Vec::new() };
    /// No field.
    pub const NONE: Self = Self { all: false, fields: Vec::new() };

    /// Adds a field.
    pub fn insert(&mut self, field: usize) {
        if self.fields.len() <= field {
            self.fields.resize(field + 1, false);
        }
        self.fields[field] = true;
    }

    /// Returns `true` if a field is in the set.
    pub fn contains(&self, field: usize) -> bool {
        self.all || self.fields.get(field).is_some_and(|is_in| *is_in)
    }

    /// Returns `true` if the set was created as [`ALL`](Self::ALL).
    pub fn is_all(&self) -> bool {
        self.all
    }
}

/// The number of tiles visited by a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCost {
    /// Tiles answered by metadata.
    pub known: u64,
    /// Tiles read.
    pub read: u64,
}

impl ScanCost {
    /// Adds the tiles of another scan.
    pub fn add(&mut self, other: Self) {
        self.known += other.known;
        self.read += other.read;
    }
}

/// Adds the cells of a batch.
pub fn add_batch<S: Scan>(scan: &mut S, batch: &Batch) {
    let columns: Vec<Cells<'_>> = batch.columns().iter().map(tdb_cells::Column::cells).collect();
    scan.add_cells(&ScanCells { columns: &columns, count: batch.len(), picked: None, left_out: &FieldSet::NONE });
}

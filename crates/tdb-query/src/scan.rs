//! Looking at all cells of a query once, in whatever order.

use tdb_cells::Batch;
use tdb_snapshot::Fragment;
use tdb_types::Cells;

use crate::unknown::WhyUnknown;

/// Takes the cells of a query, each of them once.
///
/// Tiles are looked at by several threads, each of which makes a part of what is sought; parts are put together in the order of the
/// tiles, so that nothing depends on the threads but the rounding of sums of floats.
pub trait Scan: Send + Sync {
    /// What is made of some cells.
    type Part: Send;
    /// What is known of a fragment's tiles.
    type Known;

    /// A part without cells.
    fn part(&self) -> Self::Part;

    /// Adds cells to a part.
    fn add_to(&self, part: &mut Self::Part, cells: &ScanCells<'_>);

    /// Adds a part.
    fn add(&mut self, part: Self::Part);

    /// Adds cells, where one thread does all.
    fn add_cells(&mut self, cells: &ScanCells<'_>) {
        let mut part = self.part();
        self.add_to(&mut part, cells);
        self.add(part);
    }

    /// How many parts there may be at a time; each of them takes memory.
    fn most_parts(&self, threads: usize) -> usize;

    /// What a fragment's metadata says of its tiles, if that may do.
    fn known(&self, fragment: &Fragment) -> Option<Self::Known>;

    /// Adds all cells of a tile without a look at them, as far as what is known says what is sought: all fields or none, or,
    /// if the others can be left to [`add`](Self::add), some.
    fn add_known(&mut self, known: &Self::Known, tile: KnownTile) -> FieldSet;

    /// Adds cells of a dense array that nobody wrote, if it doesn't matter where they are; whether it doesn't.
    fn add_unwritten(&mut self, cells: u128) -> bool;

    /// Whether cells may be read; `why` they have to be, unless [`add_known`](Self::add_known) was asked and said no. What ends here is
    /// not complete.
    fn may_read(&mut self, why: WhyUnknown) -> bool {
        let _ = why;
        true
    }
}

/// Some cells: those with the picked indices, or all so many. The columns are those of the query's fields.
#[derive(Clone, Copy, Debug)]
pub struct ScanCells<'a> {
    /// The cells of each field.
    pub columns: &'a [Cells<'a>],
    /// How many cells each column has.
    pub count: usize,
    /// The indices of the cells meant, ascending; all if absent.
    pub picked: Option<&'a [u32]>,
    /// The fields whose values aren't to be added: they were already, and the columns are empty; or nobody wrote any, and the
    /// columns hold fill values.
    pub left_out: &'a FieldSet,
}

/// A tile that is wanted as a whole.
#[derive(Clone, Copy, Debug)]
pub struct KnownTile {
    /// Its index in the fragment.
    pub tile: u64,
    /// How many cells it has.
    pub cells: u64,
    /// Whether some fields may be added without the others.
    pub partly: bool,
}

/// Some of a query's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet {
    all: bool,
    /// By field, as far as there are any.
    fields: Vec<bool>,
}

impl FieldSet {
    /// Every field.
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

    /// Whether a field is in the set.
    pub fn contains(&self, field: usize) -> bool {
        self.all || self.fields.get(field).is_some_and(|is_in| *is_in)
    }

    /// Whether the set was made of every field.
    pub fn is_all(&self) -> bool {
        self.all
    }
}

/// How the cells of a query were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanCost {
    /// Tiles of which metadata said enough.
    pub known: u64,
    /// Tiles that were read.
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

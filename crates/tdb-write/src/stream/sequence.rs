//! Check for global order.

use std::borrow::Cow;
use std::cmp::Ordering;

use tdb_cells::order::cell_order::global_order;
use tdb_cells::order::coordinates::Coordinates;
use tdb_cells::{CellBuffers, CellProblem, CellsError};
use tdb_schema::ArraySchema;
use tdb_schema::global_order::{Coordinate, GlobalOrder, make_comparable};
use tdb_snapshot::Result;

use crate::Duplicates;
use crate::order::duplicate;

/// A check for the order of sparse cells across batches.
#[derive(Debug)]
pub(super) struct Sequence {
    order: GlobalOrder,
    duplicates: Duplicates,
    last: Option<Vec<Owned>>,
}

/// A coordinate of the last cell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owned {
    Key(u64),
    String(Vec<u8>),
}

/// The cells of a batch that are kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// `true` if the first cell of the batch replaces the last cell of the previous batch.
    pub(super) replaces_last: bool,
    /// Indices of the kept cells. `None` if all cells are kept.
    pub(super) cells: Option<Vec<u32>>,
}

impl Sequence {
    pub(super) fn new(schema: &ArraySchema, duplicates: Duplicates) -> Result<Self> {
        Ok(Self { order: global_order(schema)?, duplicates, last: None })
    }

    /// Checks the next cells. `first` is the number of the first cell in error messages.
    pub(super) fn follow(
        &mut self,
        schema: &ArraySchema,
        coordinates: &[Coordinates],
        len: usize,
        first: u64,
    ) -> Result<Kept> {
        let Some(end) = len.checked_sub(1) else { return Ok(Kept::default()) };
        let ordering = self.order_of_first(coordinates);
        let replaces_last = self.judge(schema, ordering, first)?;
        let columns = Comparable::new(schema, &self.order, coordinates);
        let mut dropped = Vec::new();
        for cell in 1..len {
            let ordering = columns.compare(coordinates, cell);
            if ordering != Step::Forward && self.judge(schema, ordering, first + cell as u64)? {
                dropped.push(cell - 1);
            }
        }
        self.last = Some(coordinates.iter().map(|column| owned(column, end)).collect());
        let cells = (!dropped.is_empty()).then(|| {
            let mut dropped = dropped.into_iter().peekable();
            let numbers = (0..len).filter(|cell| dropped.next_if_eq(cell).is_none());
            numbers.map(|cell| u32::try_from(cell).unwrap_or(u32::MAX)).collect()
        });
        Ok(Kept { replaces_last, cells })
    }

    /// Returns `true` if this cell replaces the previous cell. Fails if the cell is out of order,
    /// or a duplicate that is not allowed.
    fn judge(&self, schema: &ArraySchema, ordering: Step, cell: u64) -> Result<bool> {
        match (ordering, self.duplicates) {
            (Step::Forward, _) | (Step::Same, Duplicates::Keep) => Ok(false),
            (Step::Same, Duplicates::KeepLast) => Ok(true),
            (Step::Same, Duplicates::Refuse) => Err(duplicate(schema, cell, cell.saturating_sub(1))),
            (Step::Backward, _) => {
                let field = schema.dimensions().first().map_or("", |dimension| dimension.name()).to_owned();
                Err(CellsError::Cell { field, cell, problem: CellProblem::OutOfOrder { order: "global order" } }.into())
            }
        }
    }

    fn order_of_first(&self, coordinates: &[Coordinates]) -> Step {
        let Some(last) = &self.last else { return Step::Forward };
        let next: Vec<Owned> = coordinates.iter().map(|column| owned(column, 0)).collect();
        let [a, b] = [last, &next].map(|cell| {
            let borrow = |coordinate| match coordinate {
                &Owned::Key(key) => Coordinate::Key(key),
                Owned::String(string) => Coordinate::String(string),
            };
            cell.iter().map(borrow).collect::<Vec<_>>()
        });
        Step::of(self.order.compare(&a, &b), || *last == next)
    }
}

/// Relation of a cell to its predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Forward,
    /// The coordinates are equal.
    Same,
    Backward,
}

impl Step {
    /// Returns the relation for an ordering. `0.0` and `-0.0` sort equal but are distinct
    /// coordinates. Therefore `same` compares the coordinates.
    fn of(ordering: Ordering, same: impl FnOnce() -> bool) -> Self {
        match ordering {
            Ordering::Less => Self::Forward,
            Ordering::Equal if same() => Self::Same,
            Ordering::Equal => Self::Forward,
            Ordering::Greater => Self::Backward,
        }
    }
}

fn owned(column: &Coordinates, cell: usize) -> Owned {
    match column {
        Coordinates::Keys(keys) => Owned::Key(keys[cell]),
        Coordinates::Strings(strings) => Owned::String(strings.string(cell).to_vec()),
    }
}

/// Columns to compare one after another. The first column that differs decides.
struct Comparable<'a> {
    columns: Vec<ComparableColumn<'a>>,
}

enum ComparableColumn<'a> {
    /// Leading words of the order, or coordinate keys. Keys of floats are adjusted to compare like
    /// the floats.
    Keys(Cow<'a, [u64]>),
    Strings(&'a CellBuffers),
}

impl<'a> Comparable<'a> {
    fn new(schema: &ArraySchema, order: &GlobalOrder, coordinates: &'a [Coordinates]) -> Self {
        let all: Vec<_> = coordinates.iter().map(Coordinates::column).collect();
        let words = (0..order.leading_word_count()).map(|word| {
            let mut words = Vec::new();
            order.leading_word(word, &all, &mut words);
            ComparableColumn::Keys(words.into())
        });
        let keys = order.cell_dimensions().iter().map(|&index| match &coordinates[index] {
            Coordinates::Keys(keys) => {
                let dimension = &schema.dimensions()[index];
                let mut keys = Cow::Borrowed(&keys[..]);
                if dimension.datatype().is_float() {
                    make_comparable(dimension.physical(), keys.to_mut());
                }
                ComparableColumn::Keys(keys)
            }
            Coordinates::Strings(strings) => ComparableColumn::Strings(strings),
        });
        Self { columns: words.chain(keys).collect() }
    }

    /// Compares a cell with its predecessor.
    fn compare(&self, coordinates: &[Coordinates], cell: usize) -> Step {
        for column in &self.columns {
            let ordering = match column {
                ComparableColumn::Keys(keys) => keys[cell - 1].cmp(&keys[cell]),
                ComparableColumn::Strings(strings) => strings.string(cell - 1).cmp(strings.string(cell)),
            };
            if ordering.is_ne() {
                return Step::of(ordering, || false);
            }
        }
        Step::of(Ordering::Equal, || {
            coordinates.iter().all(|column| match column {
                Coordinates::Keys(keys) => keys[cell - 1] == keys[cell],
                Coordinates::Strings(_) => true,
            })
        })
    }
}

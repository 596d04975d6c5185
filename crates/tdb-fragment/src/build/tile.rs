//! The statistics of one tile.

use std::ops::Range;

use tdb_types::PhysicalType;

use super::cells::TileCells;
use super::kind::{Bounds, StatisticsKind};
use super::numbers::{self, Overflow};
use super::strings;

/// The statistics of one tile of one field, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileSummary {
    /// The least value; empty if the format has none. Zeros, or no byte of a string, if all cells are null.
    pub min: Vec<u8>,
    /// The greatest value, likewise.
    pub max: Vec<u8>,
    /// The bits of the sum; 0 if the format has none.
    pub sum: u64,
    /// How many cells are null, as far as the reference library counts them.
    pub null_count: u64,
    /// Whether the tile consists of nulls, so that the totals do without it.
    pub(super) all_null: bool,
}

/// Goes over the cells of a tile, run by run, and keeps their statistics.
///
/// What the reference library would make of the same runs, oddities included: a NaN takes the place of the least and
/// greatest value met before it, and the next value takes its place; strings are compared up to their first NUL; a sum
/// that leaves its range stops at the end of the range for the rest of the run. What it gets wrong is not repeated:
/// nulls in tiles of several runs are told by the cells' own validity, and counted once.
#[derive(Clone, Debug)]
pub struct TileSummariser {
    kind: StatisticsKind,
    bounds: Found,
    sum: u64,
    null_count: u64,
}

/// The least and greatest values found so far.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// Little-endian numbers.
    Numbers {
        min: [u8; 8],
        max: [u8; 8],
    },
    /// Cells that hold strings.
    Strings {
        min: usize,
        max: usize,
    },
}

impl TileSummariser {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(kind: StatisticsKind) -> Self {
        Self { kind, bounds: Found::Nothing, sum: 0, null_count: 0 }
    }

    /// The statistics of a whole tile, gone over in one run.
    #[must_use]
    pub fn whole(kind: StatisticsKind, cells: &TileCells<'_>, count: usize) -> TileSummary {
        let mut summariser = Self::new(kind);
        summariser.add(cells, 0..count);
        summariser.finish(cells, count)
    }

    /// Goes over a run of cells. All runs are of the same tile.
    pub fn add(&mut self, cells: &TileCells<'_>, run: Range<usize>) {
        self.go_over(cells, run, Overflow::Stops);
    }

    /// Goes over cells as if each were a run of its own: a sum that leaves its range goes on from the end of the range with
    /// the next cell. So does the reference library where cells are given in another order than they are stored in.
    pub fn add_each(&mut self, cells: &TileCells<'_>, run: Range<usize>) {
        self.go_over(cells, run, Overflow::GoesOn);
    }

    fn go_over(&mut self, cells: &TileCells<'_>, run: Range<usize>, overflow: Overflow) {
        if run.is_empty() {
            return;
        }
        if self.kind.nullable && self.kind.counts_nulls {
            let validity = cells.validity.and_then(|validity| validity.get(run.clone())).unwrap_or_default();
            self.null_count += validity.iter().map(|byte| u64::from(*byte == 0)).sum::<u64>();
        }
        match self.kind.bounds {
            Some(Bounds::Number(physical)) => self.add_numbers(physical, cells, run.clone()),
            Some(Bounds::FixedString(size)) => {
                let string = |cell: usize| {
                    let start = cell.saturating_mul(size);
                    cells.values.get(start..start.saturating_add(size)).unwrap_or_default()
                };
                self.add_strings(cells, run.clone(), string, strings::compare_fixed);
            }
            Some(Bounds::VarString) => {
                self.add_strings(cells, run.clone(), |cell| cells.string(cell), strings::compare_var);
            }
            Some(Bounds::Zeros { .. }) | None => {}
        }
        if let Some(physical) = self.kind.sum {
            self.sum = numbers::sum(physical, cells, run, self.sum, overflow);
        }
    }

    fn add_numbers(&mut self, physical: PhysicalType, cells: &TileCells<'_>, run: Range<usize>) {
        let (min, max) = match self.bounds {
            Found::Numbers { min, max } => (min, max),
            _ => numbers::no_bounds(physical),
        };
        let (min, max) = numbers::bounds(physical, cells, run, min, max);
        self.bounds = Found::Numbers { min, max };
    }

    fn add_strings<'a>(
        &mut self,
        cells: &TileCells<'_>,
        run: Range<usize>,
        string: impl Fn(usize) -> &'a [u8],
        compare: impl Fn(&[u8], &[u8]) -> std::cmp::Ordering,
    ) {
        let mut valid = run.filter(|cell| cells.is_valid(*cell));
        let (mut min, mut max) = match self.bounds {
            Found::Strings { min, max } => (min, max),
            _ => match valid.next() {
                Some(first) => (first, first),
                None => return,
            },
        };
        let (mut least, mut greatest) = (string(min), string(max));
        for cell in valid {
            let value = string(cell);
            if compare(least, value).is_gt() {
                (min, least) = (cell, value);
            }
            if compare(greatest, value).is_lt() {
                (max, greatest) = (cell, value);
            }
        }
        self.bounds = Found::Strings { min, max };
    }

    /// The statistics, of a tile that is stored with so many cells, gone over or not.
    #[must_use]
    pub fn finish(self, cells: &TileCells<'_>, count: usize) -> TileSummary {
        let all_null = self.kind.nullable && self.null_count == count as u64;
        let (min, max) = match (self.kind.bounds, self.bounds) {
            (Some(Bounds::Number(physical)), Found::Numbers { min, max }) if !all_null => {
                (min[..physical.size()].to_vec(), max[..physical.size()].to_vec())
            }
            (Some(Bounds::Number(physical)), _) => (vec![0; physical.size()], vec![0; physical.size()]),
            (Some(Bounds::FixedString(size)), Found::Strings { min, max }) => {
                let string =
                    |cell: usize| cells.values.get(cell * size..(cell + 1) * size).map_or(vec![0; size], Vec::from);
                (string(min), string(max))
            }
            (Some(Bounds::FixedString(size)), _) => (vec![0; size], vec![0; size]),
            (Some(Bounds::VarString), Found::Strings { min, max }) => {
                (cells.string(min).to_vec(), cells.string(max).to_vec())
            }
            (Some(Bounds::VarString | Bounds::Zeros { .. }) | None, _) => (Vec::new(), Vec::new()),
        };
        TileSummary { min, max, sum: self.sum, null_count: self.null_count, all_null }
    }
}

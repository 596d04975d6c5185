//! Statistics of a tile.

use std::cmp::Ordering;
use std::ops::Range;

use tdb_types::{Cells, PhysicalType, Validity};

use super::kind::{Bounds, StatisticsKind};
use super::numbers::{self, Numbers, Overflow, for_valid};
use super::strings;
use crate::sections::TileStatistics;

/// The statistics of a tile of a field, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileSummary {
    /// The minimum. Empty if the field has no computed minimum, and for combined coordinates.
    /// Zeros, or an empty variable-length string, if all cells are null or the format has no
    /// statistics.
    pub min: Vec<u8>,
    /// The maximum, with the same rules.
    pub max: Vec<u8>,
    /// The bits of the sum, or 0 if the format stores no sum for the field.
    pub sum: u64,
    /// The number of null cells, or 0 if the reference library does not count nulls of the field.
    pub null_count: u64,
    /// `true` if all cells count as null. The totals exclude the bounds and the sum of the tile.
    pub(super) all_null: bool,
}

impl TileSummary {
    /// Returns the summary of a tile in a format without statistics.
    #[must_use]
    pub fn unknown(kind: StatisticsKind) -> Self {
        let zeros = match kind.bounds {
            Some(Bounds::Number(physical)) => vec![0; physical.size()],
            Some(Bounds::FixedString(size)) => vec![0; size],
            _ => Vec::new(),
        };
        Self { min: zeros.clone(), max: zeros, ..Self::default() }
    }

    /// Returns the stored statistics of a tile, for another fragment that copies the tile.
    ///
    /// `cells` is the number of cells in the tile. Returns `None` if a statistic of this kind is
    /// missing.
    #[must_use]
    pub fn stored(kind: StatisticsKind, statistics: &TileStatistics, tile: u64, cells: u64) -> Option<Self> {
        let at = |numbers: &[u64]| numbers.get(usize::try_from(tile).ok()?).copied();
        let mut summary = Self::default();
        if matches!(kind.bounds, Some(Bounds::Number(_) | Bounds::FixedString(_) | Bounds::VarString)) {
            summary.min = statistics.mins.get(tile)?.to_vec();
            summary.max = statistics.maxs.get(tile)?.to_vec();
        }
        if kind.sum.is_some() {
            summary.sum = at(&statistics.sums)?;
        }
        if kind.nullable {
            summary.null_count = at(&statistics.null_counts)?;
            summary.all_null = summary.null_count == cells;
        }
        Some(summary)
    }
}

/// An accumulator of the statistics of a tile. The cells are added in runs: ranges that the
/// reference library processes at once.
///
/// The results equal those of the reference library for the same runs, including these quirks:
///
/// - A NaN replaces the minimum and maximum found before, and the next value replaces the NaN.
/// - Strings are compared up to their first NUL. If they are equal, the shorter of two
///   variable-length strings is less.
/// - A sum that overflows stays at the end of its range for the rest of the run.
///
/// Errors of the reference library are not reproduced: nulls in tiles of several runs are counted
/// once, from the validity of the cells.
#[derive(Clone, Debug)]
pub struct TileSummarizer {
    kind: StatisticsKind,
    bounds: Found,
    sum: u64,
    null_count: u64,
}

/// The minimum and maximum found so far.
#[derive(Clone, Debug)]
enum Found {
    Nothing,
    /// Little-endian numbers.
    Numbers {
        min: [u8; 8],
        max: [u8; 8],
    },
    /// The indices of the cells with the strings.
    Strings {
        min: usize,
        max: usize,
    },
}

impl TileSummarizer {
    /// Creates an accumulator without cells.
    #[must_use]
    pub fn new(kind: StatisticsKind) -> Self {
        Self { kind, bounds: Found::Nothing, sum: 0, null_count: 0 }
    }

    /// Returns the statistics of a whole tile, processed as a single run.
    #[must_use]
    pub fn whole(kind: StatisticsKind, cells: &Cells<'_>) -> TileSummary {
        let mut summariser = Self::new(kind);
        summariser.add(cells, 0..cells.len());
        summariser.finish(cells)
    }

    /// Adds a run of the tile's cells. `cells` must be all cells of the tile in each call.
    pub fn add(&mut self, cells: &Cells<'_>, run: Range<usize>) {
        self.go_over(cells, run, Overflow::Stops);
    }

    /// Adds cells as if each were a run: a sum that overflows continues from the end of the range.
    ///
    /// The reference library does the same for cells in an order other than the stored order.
    pub fn add_each(&mut self, cells: &Cells<'_>, run: Range<usize>) {
        self.go_over(cells, run, Overflow::GoesOn);
    }

    fn go_over(&mut self, cells: &Cells<'_>, run: Range<usize>, overflow: Overflow) {
        if run.is_empty() {
            return;
        }
        if self.kind.nullable && self.kind.counts_nulls {
            self.null_count += nulls(cells, &run);
        }
        match self.kind.bounds {
            Some(Bounds::FixedString(_)) => {
                self.add_strings(cells, run.clone(), cells.slice(run.clone()).fixed_cells(), strings::compare_fixed);
            }
            Some(Bounds::VarString) => {
                self.add_strings(cells, run.clone(), cells.slice(run.clone()).var_cells(), strings::compare_var);
            }
            Some(Bounds::Number(_) | Bounds::Zeros { .. }) | None => {}
        }
        if let Some(physical) = self.kind.numbers() {
            self.add_numbers(physical, cells, run, overflow);
        }
    }

    fn add_numbers(&mut self, physical: PhysicalType, cells: &Cells<'_>, run: Range<usize>, overflow: Overflow) {
        let (min, max) = match self.bounds {
            Found::Numbers { min, max } => (min, max),
            _ => numbers::no_bounds(physical),
        };
        let mut found = Numbers { min, max, sum: self.sum };
        numbers::add(physical, cells, run, &mut found, overflow);
        if matches!(self.kind.bounds, Some(Bounds::Number(_))) {
            self.bounds = Found::Numbers { min: found.min, max: found.max };
        }
        if self.kind.sum.is_some() {
            self.sum = found.sum;
        }
    }

    /// Adds `strings`, the strings of the run.
    fn add_strings<'a>(
        &mut self,
        cells: &Cells<'a>,
        run: Range<usize>,
        strings: impl Iterator<Item = &'a [u8]>,
        compare: impl Fn(&[u8], &[u8]) -> Ordering,
    ) {
        let validity = cells.validity().map(|validity| validity.slice(run.clone()));
        let strings = run.zip(strings);
        let found = match self.bounds {
            Found::Strings { min, max } => Some([(min, cells.cell(min)), (max, cells.cell(max))]),
            _ => None,
        };
        let found = for_valid!(strings, validity, |valid| extremes(found, valid, compare));
        if let Some([(min, _), (max, _)]) = found {
            self.bounds = Found::Strings { min, max };
        }
    }

    /// Returns the statistics of the tile. `cells` are all stored cells, including cells that were
    /// not added.
    #[must_use]
    pub fn finish(self, cells: &Cells<'_>) -> TileSummary {
        let all_null = self.kind.nullable && self.null_count == cells.len() as u64;
        let (min, max) = match (self.kind.bounds, self.bounds) {
            (Some(Bounds::Number(physical)), Found::Numbers { min, max }) if !all_null => {
                (min[..physical.size()].to_vec(), max[..physical.size()].to_vec())
            }
            (Some(Bounds::Number(physical)), _) => (vec![0; physical.size()], vec![0; physical.size()]),
            (Some(Bounds::FixedString(_) | Bounds::VarString), Found::Strings { min, max }) => {
                (cells.cell(min).to_vec(), cells.cell(max).to_vec())
            }
            (Some(Bounds::FixedString(size)), _) => (vec![0; size], vec![0; size]),
            (Some(Bounds::VarString | Bounds::Zeros { .. }) | None, _) => (Vec::new(), Vec::new()),
        };
        TileSummary { min, max, sum: self.sum, null_count: self.null_count, all_null }
    }
}

/// Returns the number of null cells in a run. Cells without validity have no nulls.
fn nulls(cells: &Cells<'_>, run: &Range<usize>) -> u64 {
    let Some(validity) = cells.validity() else { return 0 };
    validity.slice(run.clone()).null_count(run.len()) as u64
}

/// A string and the index of its cell.
type Placed<'a> = (usize, &'a [u8]);

/// Returns the minimum and maximum of `found` and of `strings`, or `None` if both are empty.
fn extremes<'a>(
    found: Option<[Placed<'a>; 2]>,
    mut strings: impl Iterator<Item = Placed<'a>>,
    compare: impl Fn(&[u8], &[u8]) -> Ordering,
) -> Option<[Placed<'a>; 2]> {
    let [mut least, mut greatest] = match found {
        Some(found) => found,
        None => strings.next().map(|first| [first; 2])?,
    };
    for string in strings {
        if compare(least.1, string.1).is_gt() {
            least = string;
        }
        if compare(greatest.1, string.1).is_lt() {
            greatest = string;
        }
    }
    Some([least, greatest])
}

#[cfg(test)]
mod tests {
    use tdb_schema::{ArraySchema, Attribute, Dimension, SchemaBuilder};
    use tdb_types::{CellValNum, Datatype, Offsets};

    use super::*;
    use crate::FragmentField;

    fn schema(nullable: bool) -> ArraySchema {
        let x = Dimension::new("x", 0i32..=99).with_tile(10);
        let three = CellValNum::from_code(3).expect("a number");
        let attributes = [
            Attribute::new("number", Datatype::Int16),
            Attribute::new("float", Datatype::Float64),
            Attribute::new("fixed", Datatype::StringAscii).with_cell_val_num(three),
            Attribute::new("text", Datatype::StringAscii).with_cell_val_num(CellValNum::Var),
            Attribute::new("wide", Datatype::StringUtf16).with_cell_val_num(CellValNum::Var),
        ];
        let attributes = attributes.into_iter().map(|attribute| attribute.nullable(nullable));
        attributes.fold(SchemaBuilder::dense().dimension(x), SchemaBuilder::attribute).build().expect("a schema")
    }

    /// The statistics of a slice of a column equal those of the tile written from the slice.
    #[test]
    fn either_layout_has_the_same_statistics() {
        let bytes: Vec<u8> = (0..400u32).map(|byte| (byte * 97 % 251) as u8).collect();
        let in_values: Vec<u64> = (0..40).map(|cell| cell + cell / 3).collect();
        let bits = [0b1011_0110, 0b0000_0111, 0b1111_1000, 0b0101_0101, 0b1111_1111];
        let valid: Vec<u8> = (0..39).map(|cell| bits[cell / 8] >> (cell % 8) & 1).collect();
        for (nullable, attribute) in
            [false, true].into_iter().flat_map(|nullable| (0..5).map(move |field| (nullable, field)))
        {
            let schema = schema(nullable);
            let kind = StatisticsKind::of(&schema, FragmentField::Attribute(attribute));
            let of = &schema.attributes()[attribute];
            let size = of.datatype().size();
            for run in [0..39, 5..20, 8..11, 3..4, 11..19, 7..7] {
                let in_bytes: Vec<u64> = in_values[run.start..=run.end]
                    .iter()
                    .map(|offset| (offset - in_values[run.start]) * size as u64)
                    .collect();
                let (column, tile) = match of.cell_size() {
                    Some(cell) => {
                        let cell = usize::try_from(cell).expect("small");
                        let own = &bytes[run.start * cell..run.end * cell];
                        (Cells::fixed(&bytes[..39 * cell], cell), Cells::fixed(own, cell))
                    }
                    None => {
                        let own = &bytes[in_values[run.start] as usize * size..in_values[run.end] as usize * size];
                        let column = Cells::var(Offsets::in_values(&in_values, size), &bytes);
                        (column, Cells::var(Offsets::in_bytes(&in_bytes), own))
                    }
                };
                let column = column.with_validity(nullable.then_some(Validity::bits(&bits)));
                let tile = tile.with_validity(nullable.then_some(Validity::Bytes(&valid[run.clone()])));
                let of_tile = TileSummarizer::whole(kind, &tile);
                assert_eq!(TileSummarizer::whole(kind, &column.slice(run.clone())), of_tile, "{} {run:?}", of.name());
                // Adds single cells, as for strided slabs.
                let mut one_by_one = TileSummarizer::new(kind);
                (0..run.len()).for_each(|cell| one_by_one.add_each(&tile, cell..cell + 1));
                assert_eq!(one_by_one.finish(&tile), of_tile, "{} {run:?}", of.name());
                if nullable {
                    let nulls = valid[run.clone()].iter().filter(|byte| **byte == 0).count() as u64;
                    assert_eq!(of_tile.null_count, if kind.counts_nulls { nulls } else { 0 }, "{}", of.name());
                }
            }
        }
    }
}

//! Coordinates of the cells of a tile, and selection by query ranges.

use std::ops::{Bound, Range};

use tdb_rtree::DimRange;
use tdb_schema::hilbert::CoordinateColumn;
use tdb_types::{PhysicalType, ordered_keys};

use crate::buffers::CellBuffers;

/// The coordinates of cells along a dimension.
#[derive(Debug)]
pub enum Coordinates {
    /// Ordered keys of a fixed-size type.
    Keys(Vec<u64>),
    /// Strings.
    Strings(CellBuffers),
}

impl Coordinates {
    /// Creates two cells from the ends of a range. If a string range has no end, both cells are the
    /// start.
    pub fn of_bounds(range: &DimRange) -> Self {
        match range {
            DimRange::Fixed { lo, hi } => Self::Keys(vec![*lo, *hi]),
            DimRange::Var { lo, hi } => {
                let hi = match hi {
                    Bound::Included(hi) | Bound::Excluded(hi) => hi,
                    Bound::Unbounded => lo,
                };
                Self::Strings(CellBuffers::of_strings([&lo[..], &hi[..]]))
            }
        }
    }

    /// Returns the keys, or an empty slice for strings.
    #[inline]
    pub fn keys(&self) -> &[u64] {
        match self {
            Self::Keys(keys) => keys,
            Self::Strings(_) => &[],
        }
    }

    /// Returns the string of a cell, or an empty slice for keys.
    #[inline]
    pub fn string(&self, cell: usize) -> &[u8] {
        match self {
            Self::Keys(_) => &[],
            Self::Strings(strings) => strings.string(cell),
        }
    }

    /// Returns the coordinates of the cells with these indices.
    pub fn of_cells(&self, cells: &[u32]) -> Self {
        match self {
            Self::Keys(keys) => Self::Keys(cells.iter().map(|cell| keys[*cell as usize]).collect()),
            Self::Strings(strings) => {
                let mut some = CellBuffers::default();
                some.push_some(&strings.cells(1), cells, false);
                Self::Strings(some)
            }
        }
    }

    /// Returns the memory of the coordinates, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            Self::Keys(keys) => 8 * keys.len(),
            Self::Strings(strings) => strings.len_in_bytes(),
        }
    }

    /// Returns a view for computing global orders.
    pub fn column(&self) -> CoordinateColumn<'_> {
        match self {
            Self::Keys(keys) => CoordinateColumn::Keys(keys),
            Self::Strings(strings) => {
                let cells = strings.offsets.len().saturating_sub(1);
                CoordinateColumn::Strings { offsets: &strings.offsets[..cells], values: &strings.values }
            }
        }
    }

    /// Returns a view of a range of cells.
    #[allow(clippy::cast_possible_truncation)] // offsets do not exceed the length of the values
    pub fn part(&self, cells: Range<usize>) -> CoordinateColumn<'_> {
        match self {
            Self::Keys(keys) => CoordinateColumn::Keys(&keys[cells]),
            Self::Strings(strings) => {
                let end = strings.offsets[cells.end] as usize;
                CoordinateColumn::Strings { offsets: &strings.offsets[cells], values: &strings.values[..end] }
            }
        }
    }
}

/// Clears the mask of cells with strings outside of all ranges. The ranges are sorted and disjoint.
pub fn keep_strings(strings: &CellBuffers, ranges: &[DimRange], mask: &mut [bool]) {
    for (cell, wanted) in mask.iter_mut().enumerate() {
        *wanted = *wanted && contains_string(ranges, strings.string(cell));
    }
}

/// Appends the keys of the cells with these indices.
pub fn keys_of(physical: PhysicalType, values: &[u8], cells: &[u32], keys: &mut Vec<u64>) {
    let append = match physical.size() {
        1 => append_keys_of::<1>,
        2 => append_keys_of::<2>,
        4 => append_keys_of::<4>,
        _ => append_keys_of::<8>,
    };
    append(physical, values, cells, keys);
}

fn append_keys_of<const N: usize>(physical: PhysicalType, values: &[u8], cells: &[u32], keys: &mut Vec<u64>) {
    const CELLS: usize = 256;
    let (values, _) = values.as_chunks::<N>();
    let mut some = [[0; N]; CELLS];
    for cells in cells.chunks(CELLS) {
        for (to, cell) in some.iter_mut().zip(cells) {
            *to = values[*cell as usize];
        }
        ordered_keys(physical, some[..cells.len()].as_flattened(), keys);
    }
}

fn contains_string(ranges: &[DimRange], string: &[u8]) -> bool {
    let begins = |range: &DimRange| matches!(range, DimRange::Var { lo, .. } if lo.as_slice() <= string);
    let after = ranges.partition_point(begins);
    after.checked_sub(1).is_some_and(|range| ranges[range].contains_string(string))
}

/// Returns the indices of the cells with a set mask.
pub fn indices(mask: &[bool]) -> Vec<u32> {
    const CELLS: usize = 1024;
    let count = mask.iter().map(|wanted| u32::from(*wanted)).sum::<u32>();
    let mut indices = Vec::with_capacity(count as usize);
    let mut some = [0; CELLS];
    for (first, mask) in (0..).step_by(CELLS).zip(mask.chunks(CELLS)) {
        if !mask.iter().fold(false, |any, wanted| any | wanted) {
            continue;
        }
        // Branch-free: writes each index, and advances only if the mask is set.
        let mut count = 0;
        for (cell, wanted) in (first..).zip(mask) {
            some[count] = cell;
            count += usize::from(*wanted);
        }
        indices.extend_from_slice(&some[..count]);
    }
    indices
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(ends: std::collections::BTreeSet<u8>) -> Vec<(u8, u8)> {
        let ends: Vec<u8> = ends.into_iter().collect();
        ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    }

    #[test]
    fn indices_are_those_of_set_masks() {
        let mask: Vec<bool> =
            (0..5000).map(|cell| cell < 3 || (2040..2060).contains(&cell) || cell % 1000 == 7).collect();
        let expected: Vec<u32> = (0..).zip(&mask).filter(|(_, wanted)| **wanted).map(|(cell, _)| cell).collect();
        assert_eq!(indices(&mask), expected);
        assert_eq!(indices(&[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn keeps_cells_inside_ranges(
            cells in prop::collection::vec(any::<u8>(), 0..50),
            ends in prop::collection::btree_set(any::<u8>(), 2..20),
            mask in prop::collection::vec(any::<bool>(), 50),
        ) {
            let ranges = merged(ends);
            let expected: Vec<u32> = (0u32..)
                .zip(&cells)
                .filter(|(cell, key)| mask[*cell as usize] && ranges.iter().any(|(lo, hi)| lo <= key && *key <= hi))
                .map(|(cell, _)| cell)
                .collect();
            let offsets = (0..=cells.len() as u64).collect();
            let strings = CellBuffers { offsets, values: cells.as_slice().into(), ..CellBuffers::default() };
            let var: Vec<_> =
                ranges.iter().map(|(lo, hi)| DimRange::strings([*lo], [*hi])).collect();
            let mut wanted = mask[..cells.len()].to_vec();
            keep_strings(&strings, &var, &mut wanted);
            prop_assert_eq!(indices(&wanted), expected);
        }
    }

    #[test]
    fn an_open_range_of_strings_has_no_end() {
        let strings = Coordinates::Strings(CellBuffers::of_strings([&b"b"[..], b"", b"ca"]));
        let mut mask = [true; 3];
        let Coordinates::Strings(tile) = &strings else { unreachable!() };
        keep_strings(tile, &[DimRange::strings_from("b")], &mut mask);
        assert_eq!(mask, [true, false, true]);
    }
}

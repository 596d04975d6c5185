//! Coordinates of dense cells. They are not stored but follow from the positions of the cells.

use tdb_types::{PhysicalType, from_ordered_key};

use crate::axis::Axis;
use crate::work::Work;

/// Writes the coordinates of the cells of `work` along a dimension.
pub(super) fn coordinates(axis: &Axis, dimension: usize, physical: PhysicalType, work: &Work, result: &mut [u8]) {
    match physical.size() {
        1 => coordinates_of::<1>(axis, dimension, physical, work, result),
        2 => coordinates_of::<2>(axis, dimension, physical, work, result),
        4 => coordinates_of::<4>(axis, dimension, physical, work, result),
        _ => coordinates_of::<8>(axis, dimension, physical, work, result),
    }
}

fn coordinates_of<const N: usize>(
    axis: &Axis,
    dimension: usize,
    physical: PhysicalType,
    work: &Work,
    result: &mut [u8],
) {
    let (mut result, _) = result.as_chunks_mut::<N>();
    let mut keys = Vec::new();
    for placed in &work.boxes {
        keys.clear();
        axis.keys(placed.positions[dimension].clone(), &mut keys);
        let bytes = |key: &u64| from_ordered_key(physical, *key).first_chunk().copied().unwrap_or([0; N]);
        let values: Vec<[u8; N]> = keys.iter().map(bytes).collect();
        let cells = placed.positions.iter().map(|range| (range.end - range.start) as usize).product();
        let (cells, rest) = std::mem::take(&mut result).split_at_mut(cells);
        result = rest;
        match placed.strides[dimension] {
            1 => cells.chunks_mut(values.len()).for_each(|row| row.copy_from_slice(&values[..row.len()])),
            stride => {
                for (row, value) in cells.chunks_mut(stride).zip(values.iter().cycle()) {
                    row.fill(*value);
                }
            }
        }
    }
}

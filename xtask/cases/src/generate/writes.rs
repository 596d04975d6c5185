//! Random writes.

use std::collections::HashSet;

use tdb_types::{ArrayType, Layout, Scalar};

use super::super::random::Random;
use super::axis::Axis;
use super::cells;
use crate::scalars::{integer_bytes, integer_of, order_of};
use tdb_reference::model::{ArraySpec, AttributeSpec, Bytes, Column, WriteSpec, var_column};

/// Generates a write to an array with these attributes.
pub fn write(
    random: &mut Random,
    array: &ArraySpec,
    axes: &[Axis],
    attributes: &[AttributeSpec],
    timestamp: u64,
) -> WriteSpec {
    let (layout, subarray, mut cells, count) = match array.array_type {
        ArrayType::Dense => {
            let (layout, ranges) = dense_place(random, axes);
            let count = ranges.iter().map(|(low, high)| high - low + 1).product::<i128>();
            let ends = axes.iter().zip(ranges).map(|(axis, (low, high))| {
                let physical = axis.spec.datatype.physical();
                (integer_bytes(physical, low), integer_bytes(physical, high))
            });
            (layout, Some(ends.collect()), Vec::new(), usize::try_from(count).unwrap_or(0))
        }
        ArrayType::Sparse => {
            let (layout, rows) = sparse_rows(random, array, axes);
            let count = rows.len();
            (layout, None, coordinate_columns(axes, &rows), count)
        }
    };
    let dense = array.array_type == ArrayType::Dense;
    cells.extend(attributes.iter().map(|attribute| {
        // The library sometimes crashes in dense writes of empty cells.
        let full = dense && random.percent(85);
        cells::column(random, attribute, count, full)
    }));
    WriteSpec { layout, subarray, timestamp: Some(timestamp), cells }
}

/// Chooses the subarray and the layout of a dense write.
fn dense_place(random: &mut Random, axes: &[Axis]) -> (Layout, Vec<(i128, i128)>) {
    if random.percent(20)
        && let Some(ranges) = whole_tiles(random, axes)
    {
        return (Layout::GlobalOrder, ranges);
    }
    let whole = random.percent(20);
    let ranges = axes.iter().map(|axis| {
        let (first, last) = (random.integer(axis.low, axis.written), random.integer(axis.low, axis.written));
        if whole { (axis.low, axis.written) } else { (first.min(last), first.max(last)) }
    });
    let ranges = ranges.collect();
    (*random.pick(&[Layout::RowMajor, Layout::ColMajor]), ranges)
}

/// Returns a subarray of complete tiles in the domain, or `None` if no tile is complete.
fn whole_tiles(random: &mut Random, axes: &[Axis]) -> Option<Vec<(i128, i128)>> {
    let place = |axis: &Axis, random: &mut Random| {
        let physical = axis.spec.datatype.physical();
        let origin = integer_of(physical, &axis.spec.domain.as_ref()?.0);
        let first = (axis.low - origin + axis.extent - 1) / axis.extent;
        let end = (axis.written + 1 - origin) / axis.extent;
        if first >= end {
            return None;
        }
        let (a, b) = (random.integer(first, end - 1), random.integer(first, end - 1));
        Some((origin + a.min(b) * axis.extent, origin + (a.max(b) + 1) * axis.extent - 1))
    };
    axes.iter().map(|axis| place(axis, random)).collect()
}

/// Generates the coordinates of cells in write order.
fn sparse_rows(random: &mut Random, array: &ArraySpec, axes: &[Axis]) -> (Layout, Vec<Vec<Bytes>>) {
    let wanted = match random.below(40) {
        0 => 12_000,
        1..=3 => random.between(1, 1500),
        4..=8 => random.between(1, 4),
        _ => random.between(1, 120),
    };
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    for _ in 0..wanted {
        let row: Vec<Bytes> = axes.iter().map(|axis| random.pick(&axis.pool).clone()).collect();
        if array.allows_dups || seen.insert(key_of(axes, &row)) {
            rows.push(row);
        }
    }
    if array.cell_order == Layout::Hilbert || random.percent(70) {
        return (Layout::Unordered, rows);
    }
    rows.sort_by_cached_key(|row| global_key(array, axes, row));
    (Layout::GlobalOrder, rows)
}

pub(super) type Key = Vec<(u64, Vec<u8>)>;

fn key_of(axes: &[Axis], row: &[Bytes]) -> Key {
    axes.iter().zip(row).map(|(axis, bytes)| order_of(axis.spec.datatype, bytes)).collect()
}

/// Returns a key that sorts like the array's global order.
pub(super) fn global_key(array: &ArraySpec, axes: &[Axis], row: &[Bytes]) -> (Vec<u64>, Key) {
    let mut tiles: Vec<u64> = axes.iter().zip(row).map(|(axis, bytes)| tile_of(axis, bytes)).collect();
    let mut cells = key_of(axes, row);
    if array.tile_order == Layout::ColMajor {
        tiles.reverse();
    }
    if array.cell_order == Layout::ColMajor {
        cells.reverse();
    }
    (tiles, cells)
}

fn tile_of(axis: &Axis, bytes: &Bytes) -> u64 {
    let (Some((low, _)), Some(extent)) = (&axis.spec.domain, &axis.spec.extent) else { return 0 };
    let scalar = |bytes: &Bytes| Scalar::from_le_bytes(axis.spec.datatype.physical(), bytes);
    match (scalar(bytes), scalar(low), scalar(extent)) {
        (Some(Scalar::F32(value)), Some(Scalar::F32(low)), Some(Scalar::F32(extent))) => {
            ((value - low) / extent) as u64
        }
        (Some(Scalar::F64(value)), Some(Scalar::F64(low)), Some(Scalar::F64(extent))) => {
            ((value - low) / extent) as u64
        }
        _ => {
            let physical = axis.spec.datatype.physical();
            let integer = |bytes: &Bytes| integer_of(physical, bytes);
            u64::try_from((integer(bytes) - integer(low)) / integer(extent)).unwrap_or(0)
        }
    }
}

fn coordinate_columns(axes: &[Axis], rows: &[Vec<Bytes>]) -> Vec<Column> {
    let column = |(index, axis): (usize, &Axis)| {
        let column = var_column(&axis.spec.name, rows.iter().map(|row| &row[index][..]));
        Column { offsets: column.offsets.filter(|_| axis.spec.domain.is_none()), ..column }
    };
    axes.iter().enumerate().map(column).collect()
}

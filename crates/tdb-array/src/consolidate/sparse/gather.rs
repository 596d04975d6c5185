//! From the columns of tiles to cells that follow each other.

use std::ops::Range;

use tdb_schema::ArraySchema;

use super::columns::Column;
use crate::tiles::CellBuffers;
use crate::write::FieldEncoder;

/// One cell of a field's fill value.
pub(super) fn fill_of(schema: &ArraySchema, field: &FieldEncoder) -> CellBuffers {
    let tdb_fragment::FragmentField::Attribute(index) = field.field else { return CellBuffers::default() };
    let Some(attribute) = schema.attributes().get(index) else { return CellBuffers::default() };
    let value = attribute.fill_value();
    let mut fill = match field.is_var() {
        true => CellBuffers::of_strings([&value[..]]),
        false => CellBuffers { values: value[..].into(), ..CellBuffers::default() },
    };
    if field.nullable {
        fill.validity.append(1).fill(attribute.fill_valid().into());
    }
    fill
}

/// Makes room for so many cells.
pub(super) fn reserve(field: &FieldEncoder, cells: usize, to: &mut CellBuffers) {
    if field.is_var() {
        to.start_offsets();
        to.offsets.reserve(cells);
    } else {
        to.values.reserve(cells.saturating_mul(field.size));
    }
}

/// Appends some cells of a column.
pub(super) fn append(
    field: &FieldEncoder,
    column: Column<'_>,
    cells: Range<usize>,
    fill: &CellBuffers,
    to: &mut CellBuffers,
) {
    let (size, len) = (field.size, cells.len());
    match column {
        Column::Cells(from) if !field.is_var() => {
            to.values.extend_from_slice(&from.values[cells.start * size..cells.end * size]);
            if field.nullable {
                append_validity(from, cells, to);
            }
        }
        Column::Cells(from) => {
            let bounds = &from.offsets[cells.start..=cells.end];
            let (first, base) = (bounds[0], to.values.len() as u64);
            to.values.extend_from_slice(&from.values[first as usize..bounds[len] as usize]);
            to.offsets.extend(bounds[1..].iter().map(|offset| offset - first + base));
            if field.nullable {
                append_validity(from, cells, to);
            }
        }
        Column::Numbers(numbers) => to.values.extend_from_slice(bytemuck::cast_slice(&numbers[cells])),
        Column::Number(number) => {
            to.values.append(len * size).chunks_exact_mut(8).for_each(|to| to.copy_from_slice(&number.to_le_bytes()));
        }
        Column::Fill => (0..len).for_each(|_| to.push(&fill.cells(size), field.nullable)),
    }
}

fn append_validity(from: &CellBuffers, cells: Range<usize>, to: &mut CellBuffers) {
    match from.validity.get(cells.clone()) {
        Some(validity) => to.validity.extend_from_slice(validity),
        None => to.validity.append(cells.len()).fill(1),
    }
}

/// Writes runs of cells of one size, and nothing beside their values.
pub(super) fn append_fixed<'a>(
    size: usize,
    runs: impl Iterator<Item = (Column<'a>, Range<usize>)>,
    fill: &CellBuffers,
    to: &mut [u8],
) {
    match size {
        1 => append_sized::<1>(runs, fill, to),
        2 => append_sized::<2>(runs, fill, to),
        4 => append_sized::<4>(runs, fill, to),
        8 => append_sized::<8>(runs, fill, to),
        _ => {
            let mut to = to.chunks_exact_mut(size);
            for (column, cells) in runs {
                let values = |cell: usize| match column {
                    Column::Cells(from) => from.values.get(cell * size..(cell + 1) * size),
                    _ => fill.values.get(..size),
                };
                for (cell, to) in cells.zip(&mut to) {
                    values(cell).into_iter().for_each(|value| to.copy_from_slice(value));
                }
            }
        }
    }
}

/// The same with the size known beforehand: most runs are of one cell.
fn append_sized<'a, const SIZE: usize>(
    runs: impl Iterator<Item = (Column<'a>, Range<usize>)>,
    fill: &CellBuffers,
    to: &mut [u8],
) {
    let (to, _) = to.as_chunks_mut::<SIZE>();
    let fill = fill.values.first_chunk::<SIZE>().copied().unwrap_or([0; SIZE]);
    let mut start = 0;
    for (column, cells) in runs {
        let to = &mut to[start..start + cells.len()];
        start += cells.len();
        let copy = |values: &[u8], to: &mut [[u8; SIZE]]| {
            let values = &values.as_chunks::<SIZE>().0[cells.clone()];
            match (&mut *to, values) {
                ([to], [value]) => *to = *value,
                _ => to.copy_from_slice(values),
            }
        };
        match column {
            Column::Cells(from) => copy(&from.values, to),
            Column::Numbers(numbers) => copy(bytemuck::cast_slice(numbers), to),
            Column::Number(number) => {
                to.iter_mut().for_each(|to| to.copy_from_slice(&number.to_le_bytes()[..SIZE]));
            }
            Column::Fill => to.fill(fill),
        }
    }
}

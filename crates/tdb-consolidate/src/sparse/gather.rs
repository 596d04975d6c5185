//! Copying of cells from the columns of tiles.

use std::ops::Range;

use tdb_cells::CellBuffers;
use tdb_schema::ArraySchema;
use tdb_write::FieldEncoder;

use super::columns::Column;
use super::picked::Pick;

/// Returns a single cell with the fill value of a field. Returns empty buffers if the field is not
/// an attribute.
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

/// Reserves memory for cells.
pub(super) fn reserve(field: &FieldEncoder, cells: usize, to: &mut CellBuffers) {
    if field.is_var() {
        to.start_offsets();
        to.offsets.reserve(cells);
    } else {
        to.values.reserve(cells.saturating_mul(field.size));
    }
}

/// Appends cells of a column.
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

/// Writes the values of picked fixed-size cells. `columns` holds the columns by slot.
pub(super) fn append_fixed((size, columns, fill): (usize, &[Column<'_>], &CellBuffers), picks: &[Pick], to: &mut [u8]) {
    match size {
        1 => append_sized::<1>((columns, fill), picks, to),
        2 => append_sized::<2>((columns, fill), picks, to),
        4 => append_sized::<4>((columns, fill), picks, to),
        8 => append_sized::<8>((columns, fill), picks, to),
        _ => {
            let mut to = to.chunks_exact_mut(size);
            for pick in picks {
                let values = |cell: usize| match columns[pick.slot()] {
                    Column::Cells(from) => from.values.get(cell * size..(cell + 1) * size),
                    _ => fill.values.get(..size),
                };
                for (cell, to) in pick.cells().zip(&mut to) {
                    values(cell).into_iter().for_each(|value| to.copy_from_slice(value));
                }
            }
        }
    }
}

/// Writes picked cells like [`append_fixed`]. A constant size is faster, because most picks consist
/// of a single cell.
fn append_sized<const SIZE: usize>((columns, fill): (&[Column<'_>], &CellBuffers), picks: &[Pick], to: &mut [u8]) {
    let same = |column: &Column<'_>| match column {
        Column::Number(number) => number.to_le_bytes().first_chunk::<SIZE>().copied(),
        _ => fill.values.first_chunk::<SIZE>().copied(),
    };
    let same: Vec<[u8; SIZE]> = columns.iter().map(|column| same(column).unwrap_or([0; SIZE])).collect();
    // A column with the same value for all cells becomes one cell with an index mask of 0. The loop
    // then needs no branch per cell.
    let columns = columns.iter().zip(&same).map(|(column, same)| match column {
        Column::Cells(from) => (from.values.as_chunks::<SIZE>().0, usize::MAX),
        Column::Numbers(numbers) => (bytemuck::cast_slice::<u64, u8>(numbers).as_chunks::<SIZE>().0, usize::MAX),
        Column::Number(_) | Column::Fill => (std::slice::from_ref(same), 0),
    });
    let columns: Vec<(&[[u8; SIZE]], usize)> = columns.collect();
    let (mut to, _) = to.as_chunks_mut::<SIZE>();
    for pick in picks {
        let ((values, mask), cells) = (columns[pick.slot()], pick.cells());
        let Some((picked, rest)) = std::mem::take(&mut to).split_at_mut_checked(cells.len()) else { return };
        match picked {
            [to] => *to = values[cells.start & mask],
            to if mask == 0 => to.fill(values[0]),
            to => to.copy_from_slice(&values[cells]),
        }
        to = rest;
    }
}

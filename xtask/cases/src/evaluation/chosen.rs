//! Selects the cells of a question from all cells of an array, by their coordinates.

use tdb_array::Array;

use super::Evaluator;
use crate::case::{Case, Question};
use crate::ours::Reading;
use crate::scalars::order_of;
use tdb_reference::model::{ReadColumn, ReadResult};

/// Converts cells read by tdb to the library's result type.
pub fn typed(array: &Array, reading: Reading) -> ReadResult {
    let columns = reading.columns.into_iter().filter_map(|column| {
        let kind = array.schema().field_type(array.schema().field(&column.name)?)?;
        Some(ReadColumn { datatype: kind.datatype, cell_val_num: kind.cell_val_num.fixed(), column })
    });
    ReadResult { cells: reading.cells, columns: columns.collect(), submits: 1 }
}

/// Returns the cells that match a question. `cells` must contain the coordinates.
pub fn choose(case: &Case, question: &Question, cells: &ReadResult) -> ReadResult {
    let evaluator = Evaluator::new(case, question);
    let chosen = coordinates(case, cells).into_iter().enumerate().filter(|(_, place)| evaluator.holds(place));
    let chosen: Vec<usize> = chosen.map(|(cell, _)| cell).collect();
    take(cells, &chosen)
}

/// A key that sorts like the coordinates of a cell.
pub type Place = Vec<(u64, Vec<u8>)>;

/// Returns the place of each cell.
pub fn places(case: &Case, cells: &ReadResult) -> Vec<Place> {
    let place = |values: Vec<&[u8]>| {
        let along = case.array.dimensions.iter().zip(values);
        along.map(|(dimension, value)| order_of(dimension.datatype, value)).collect()
    };
    coordinates(case, cells).into_iter().map(place).collect()
}

/// Returns the coordinates of each cell.
fn coordinates<'a>(case: &Case, cells: &'a ReadResult) -> Vec<Vec<&'a [u8]>> {
    let mut places = vec![Vec::new(); cells.cells];
    for name in case.array.dimension_names() {
        let column = cells.columns.iter().find(|column| column.column.name == name);
        let values = column.map(ReadColumn::cells).unwrap_or_default();
        places.iter_mut().zip(values).for_each(|(place, value)| place.push(value));
    }
    places
}

pub fn take(cells: &ReadResult, chosen: &[usize]) -> ReadResult {
    let column = |column: &ReadColumn| ReadColumn {
        column: column.column.of_places(cells.cells, chosen.iter().copied()),
        ..column.clone()
    };
    ReadResult { cells: chosen.len(), columns: cells.columns.iter().map(column).collect(), ..cells.clone() }
}

//! Of cells with their coordinates those that a question asks for.

use tdb_array::Array;
use tdb_types::ArrayType;

use super::case::{Case, Question};
use super::ours::Reading;
use super::selection::Evaluator;
use tdb_reference::model::{ReadColumn, ReadResult};

/// What ours reads, in the form of what the library does.
pub fn typed(array: &Array, reading: Reading) -> ReadResult {
    let columns = reading.columns.into_iter().filter_map(|column| {
        let kind = array.schema().field_type(array.schema().field(&column.name)?)?;
        Some(ReadColumn { datatype: kind.datatype, cell_val_num: kind.cell_val_num.fixed(), column })
    });
    ReadResult { cells: reading.cells, columns: columns.collect(), submits: 1 }
}

/// Of cells with their coordinates those that a question asks for, as often as it does.
pub fn choose(case: &Case, question: &Question, cells: &ReadResult) -> ReadResult {
    let evaluator = Evaluator::new(case, question);
    let chosen = coordinates(case, cells).into_iter().enumerate();
    let chosen: Vec<usize> =
        chosen.flat_map(|(cell, place)| std::iter::repeat_n(cell, evaluator.times(&place))).collect();
    take(cells, &chosen)
}

/// Of cells with their coordinates those that a question asks for, each once, and how often the library counts them.
pub fn wanted(case: &Case, question: &Question, cells: &ReadResult) -> (ReadResult, Vec<u64>) {
    let evaluator = Evaluator::new(case, question);
    let sparse = case.array.array_type == ArrayType::Sparse;
    let times = coordinates(case, cells).into_iter().map(|place| evaluator.times(&place) as u64);
    let chosen: Vec<(usize, u64)> = times.enumerate().filter(|(_, times)| *times > 0).collect();
    let places: Vec<usize> = chosen.iter().map(|(cell, _)| *cell).collect();
    (take(cells, &places), chosen.iter().map(|(_, times)| if sparse { 1 } else { *times }).collect())
}

/// The coordinates of each cell; none if there are no cells.
pub fn coordinates<'a>(case: &Case, cells: &'a ReadResult) -> Vec<Vec<&'a [u8]>> {
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

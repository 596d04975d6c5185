//! What the tests share.

use tdb_array::{Array, Order, Query};

/// All cells of a dense array: of each attribute values, offsets and which are valid.
pub(crate) type AllCells = Vec<(String, Vec<u8>, Vec<u64>, Vec<bool>)>;

pub(crate) fn cells(array: &Array) -> AllCells {
    let names: Vec<String> = array.schema().attributes().iter().map(|attribute| attribute.name().to_owned()).collect();
    cells_of(array.read().order(Order::RowMajor), &names)
}

pub(crate) fn cells_of(query: Query, names: &[String]) -> AllCells {
    let mut all: AllCells = names.iter().map(|name| (name.clone(), Vec::new(), vec![0], Vec::new())).collect();
    for batch in query.select(names).unwrap().batches().unwrap() {
        let batch = batch.unwrap();
        for (name, values, offsets, valid) in &mut all {
            let column = batch.column(name).unwrap();
            for cell in 0..column.len() {
                values.extend_from_slice(column.cell_bytes(cell));
                offsets.push(values.len() as u64);
                valid.push(column.is_valid(cell));
            }
        }
    }
    all
}

/// How many cells the whole domain has; as many as there can be if that can't be counted.
pub(crate) fn domain_cells(array: &Array) -> u64 {
    let lengths = array.schema().dimensions().iter().map(|dimension| {
        let (low, high) = dimension.domain_keys().unwrap_or((0, u64::MAX));
        (high - low).saturating_add(1)
    });
    lengths.fold(1, u64::saturating_mul)
}

//! Coordinates in releases before 2.0: one field with the coordinates of all dimensions.

use super::array::{COORDINATES, Fields};
use crate::model::{Bytes, Cells, Column, ReadColumn};

/// Interleaves the columns of all dimensions into one column, and moves this column to the front.
pub(super) fn combine(cells: &Cells, fields: &Fields) -> Cells {
    let dimensions: Vec<&Column> = fields
        .dimensions
        .iter()
        .filter_map(|dimension| cells.iter().find(|column| column.name == dimension.name))
        .collect();
    let Some(size) = fields.dimensions.first().map(|dimension| dimension.datatype.size()) else { return cells.clone() };
    let count = dimensions.first().map_or(0, |column| column.values.len() / size);
    let mut values = Vec::with_capacity(count * size * dimensions.len());
    for cell in 0..count {
        for column in &dimensions {
            values.extend_from_slice(column.values.get(cell * size..(cell + 1) * size).unwrap_or_default());
        }
    }
    let combined = Column { name: COORDINATES.to_owned(), values: Bytes(values), offsets: None, validity: None };
    let attributes = cells.iter().filter(|column| !fields.is_dimension(&column.name));
    std::iter::once(combined).chain(attributes.cloned()).collect()
}

/// Replaces the names of dimensions by the name of the field with all coordinates.
pub(super) fn combined_names(names: &[String], fields: &Fields) -> Vec<String> {
    let all = asked(names, fields);
    let mut combined: Vec<String> = all.iter().filter(|name| !fields.is_dimension(name)).cloned().collect();
    if combined.len() < all.len() {
        combined.insert(0, COORDINATES.to_owned());
    }
    combined
}

/// Returns the columns with these names. Extracts each dimension from the column of all
/// coordinates.
pub(super) fn separate(columns: Vec<ReadColumn>, names: &[String], fields: &Fields) -> Vec<ReadColumn> {
    let names = asked(names, fields);
    let find = |name: &str| columns.iter().find(|read| read.column.name == name);
    let column_of = |name: &String| {
        let position = fields.dimensions.iter().position(|dimension| &dimension.name == name);
        let Some(position) = position else { return find(name).cloned() };
        let all = find(COORDINATES)?;
        let size = all.datatype.size();
        let cells = all.column.values.chunks_exact(size * fields.dimensions.len());
        let values = cells.flat_map(|cell| cell[position * size..(position + 1) * size].to_vec()).collect();
        let column = Column { name: name.clone(), values: Bytes(values), offsets: None, validity: None };
        Some(ReadColumn { datatype: all.datatype, cell_val_num: Some(1), column })
    };
    names.iter().filter_map(column_of).collect()
}

/// Returns the names. Without names, returns all attributes, and for sparse arrays the dimensions
/// first.
fn asked(names: &[String], fields: &Fields) -> Vec<String> {
    if !names.is_empty() {
        return names.to_vec();
    }
    let dimensions = fields.dimensions.iter().filter(|_| fields.sparse);
    dimensions.chain(&fields.attributes).map(|field| field.name.clone()).collect()
}

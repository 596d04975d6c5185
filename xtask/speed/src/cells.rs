//! Cells that follow rules: the same ones each time.

use tdb_array::{NewCells, NewColumn};
use tdb_reference::model::{Column, GeneratedWrite, Rule};
use tdb_types::Layout;

/// Columns by rules, so many cells of each.
pub fn columns(rules: &[(&str, Rule)], cells: u64) -> Vec<Column> {
    let columns = rules.iter().map(|(name, rule)| ((*name).to_owned(), *rule)).collect();
    let write = GeneratedWrite { layout: Layout::RowMajor, subarray: None, timestamp: None, cells, columns };
    write.materialise().cells
}

/// The cells as ours takes them.
pub fn new_cells(columns: &[Column]) -> NewCells<'_> {
    columns.iter().fold(NewCells::new(), |cells, column| {
        let mut new = NewColumn::bytes(&column.values);
        if let Some(offsets) = &column.offsets {
            // All cells of variable length here are of bytes.
            new = new.with_offsets(offsets);
        }
        if let Some(validity) = &column.validity {
            new = new.with_validity(bits(validity));
        }
        cells.with(column.name.as_str(), new)
    })
}

/// A bit for each byte, the least significant first.
fn bits(bytes: &[u8]) -> Vec<u8> {
    let byte = |eight: &[u8]| eight.iter().enumerate().map(|(bit, valid)| u8::from(*valid != 0) << bit).sum();
    bytes.chunks(8).map(byte).collect()
}

/// Bytes of values, offsets and validity.
pub fn byte_count(column: &Column) -> u64 {
    let offsets = column.offsets.as_ref().map_or(0, |offsets| size_of_val(&offsets[..]));
    let validity = column.validity.as_ref().map_or(0, |validity| validity.len());
    (column.values.len() + offsets + validity) as u64
}

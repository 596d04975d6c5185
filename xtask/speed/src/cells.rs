//! Generated cells, which are the same in every run.

use tdb_array::{WriteBatch, WriteColumn};
use tdb_reference::model::{Column, GeneratedWrite, Rule};
use tdb_types::Layout;

/// Generates `cells` cells of each column.
pub fn columns(rules: &[(&str, Rule)], cells: u64) -> Vec<Column> {
    let columns = rules.iter().map(|(name, rule)| ((*name).to_owned(), *rule)).collect();
    let write = GeneratedWrite { layout: Layout::RowMajor, subarray: None, timestamp: None, cells, columns };
    write.materialise().cells
}

/// The rules of a table with typical columns: a number, a time, doubles, strings.
pub const TABLE: [(&str, Rule); 6] = [
    ("id", Rule::Ascending { seed: 5 }),
    ("time", Rule::Ascending { seed: 6 }),
    ("price", Rule::Wave { seed: 7 }),
    ("amount", Rule::Wave { seed: 8 }),
    ("word", Rule::Word { seed: 9 }),
    ("place", Rule::Word { seed: 10 }),
];

/// Converts the cells to tdb's type.
pub fn new_cells(columns: &[Column]) -> WriteBatch<'_> {
    columns.iter().fold(WriteBatch::new(), |cells, column| {
        let mut new = WriteColumn::bytes(&column.values);
        if let Some(offsets) = &column.offsets {
            // All variable-size cells here consist of bytes, so byte offsets are value offsets.
            new = new.with_offsets(offsets);
        }
        if let Some(validity) = &column.validity {
            new = new.with_validity(bits(validity));
        }
        cells.with(column.name.as_str(), new)
    })
}

/// Packs validity bytes to bits, least significant bit first.
fn bits(bytes: &[u8]) -> Vec<u8> {
    let byte = |eight: &[u8]| eight.iter().enumerate().map(|(bit, valid)| u8::from(*valid != 0) << bit).sum();
    bytes.chunks(8).map(byte).collect()
}

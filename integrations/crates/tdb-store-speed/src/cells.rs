//! The cells of the arrays.

use tdb_reference::model::{Cells, WriteSpec, column, var_column};
use tdb_types::Layout;

/// Returns consecutive cells.
pub(crate) fn cells(first: u32, count: u32) -> Cells {
    let positions = first..first + count;
    vec![
        column("position", positions.clone()),
        column("depth", positions.clone().map(f64::from)),
        var_column("name", positions.map(|position| format!("n{position}"))),
    ]
}

pub(crate) fn write_of(first: u32, count: u32) -> WriteSpec {
    WriteSpec { layout: Layout::Unordered, subarray: None, timestamp: None, cells: cells(first, count) }
}

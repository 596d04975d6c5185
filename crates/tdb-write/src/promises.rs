//! Check of attributes with ordered values, as in dimension label arrays.

use std::cmp::Ordering;
use std::collections::HashMap;

use tdb_cells::{CellProblem, CellsError};
use tdb_fragment::FragmentField;
use tdb_schema::{ArraySchema, Attribute};
use tdb_snapshot::Result;
use tdb_types::{Cells, DataOrder, Scalar};

use crate::check::CheckedCells;

/// A check of ordered attributes across batches.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Last value by attribute index.
    last: HashMap<usize, Vec<u8>>,
}

impl Promises {
    /// Checks that the values continue in order. `first` is the number of the first cell in error
    /// messages.
    pub(super) fn follow(&mut self, schema: &ArraySchema, cells: &CheckedCells<'_>, first: u64) -> Result<()> {
        for column in &cells.fields {
            let FragmentField::Attribute(index) = column.field else { continue };
            let attribute = &schema.attributes()[index];
            if attribute.order() == DataOrder::Unordered || cells.len == 0 {
                continue;
            }
            if let Some(cell) = first_out_of_order(attribute, self.last.get(&index), &column.cells) {
                let order = match attribute.order() {
                    DataOrder::Decreasing => "decreasing order",
                    _ => "increasing order",
                };
                let problem = CellProblem::OutOfOrder { order };
                let field = attribute.name().to_owned();
                return Err(CellsError::Cell { field, cell: first + cell as u64, problem }.into());
            }
            self.last.insert(index, column.cells.cell(cells.len - 1).to_vec());
        }
        Ok(())
    }
}

/// Returns the first cell that is out of order. `last` is the value before the first cell.
fn first_out_of_order(attribute: &Attribute, last: Option<&Vec<u8>>, cells: &Cells<'_>) -> Option<usize> {
    let wrong = match attribute.order() {
        DataOrder::Decreasing => Ordering::Less,
        _ => Ordering::Greater,
    };
    let physical = attribute.datatype().physical();
    let compare = |a: &[u8], b: &[u8]| match (Scalar::from_le_bytes(physical, a), Scalar::from_le_bytes(physical, b)) {
        (Some(a), Some(b)) if !attribute.is_var() => a.partial_cmp(&b),
        _ => Some(a.cmp(b)),
    };
    let is_wrong = |before: &[u8], cell: usize| compare(before, cells.cell(cell)).is_none_or(|found| found == wrong);
    if last.is_some_and(|last| is_wrong(last, 0)) {
        return Some(0);
    }
    (1..cells.len()).find(|cell| is_wrong(cells.cell(cell - 1), *cell))
}

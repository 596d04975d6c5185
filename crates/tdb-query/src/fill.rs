//! Conditions on cells with missing fields.

use tdb_condition::BoundCondition;
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::OutputField;
use tdb_types::{Cells, Offsets, Validity};

/// Returns the condition for cells with missing fields. Replaces missing fields by their fill
/// values.
pub fn with_fill_values(
    condition: &BoundCondition,
    schema: &ArraySchema,
    is_missing: impl Fn(FieldRef) -> bool,
) -> BoundCondition {
    let missing = condition.fields().iter().map(|needed| is_missing(needed.field).then_some(needed.field));
    let fills: Vec<_> = missing.map(|field| Some(FillCell::of(&OutputField::of(schema, field?)))).collect();
    let cells: Vec<_> = fills.iter().map(|fill| fill.as_ref().map(FillCell::cell)).collect();
    condition.assuming(&cells)
}

/// A cell with the fill value.
#[derive(Debug)]
pub struct FillCell {
    output: OutputField,
    offsets: [u64; 2],
    validity: [u8; 1],
}

impl FillCell {
    /// Creates a cell with the fill value of a field.
    pub fn of(output: &OutputField) -> Self {
        let (offsets, validity) = ([0, output.fill.len() as u64], [u8::from(output.fill_valid)]);
        Self { output: output.clone(), offsets, validity }
    }

    /// Returns the cell in tile layout.
    pub fn cell(&self) -> Cells<'_> {
        let cells = match self.output.cell_size() {
            Some(size) => Cells::fixed(&self.output.fill, size),
            None => Cells::var(Offsets::in_bytes(&self.offsets), &self.output.fill),
        };
        cells.with_validity(self.output.nullable.then_some(Validity::Bytes(&self.validity)))
    }
}

//! Validation of columns against the schema, without comparison of cells.

use std::collections::HashMap;

use tdb_cells::{CellsError, Checker, WriteBatch};
use tdb_fragment::FragmentField;
use tdb_schema::{ArraySchema, FieldRef, FieldType};
use tdb_snapshot::{Result, unknown_field};
use tdb_types::Cells;

/// Cells with columns that fit the array and each other.
#[derive(Debug)]
pub(super) struct CheckedCells<'a> {
    /// Number of cells.
    pub(super) len: usize,
    /// Stored fields: attributes, then the dimensions of a sparse array.
    pub(super) fields: Vec<CheckedColumn<'a>>,
}

/// The cells of a field, checked for bounds and validity.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedColumn<'a> {
    pub(super) field: FragmentField,
    pub(super) cells: Cells<'a>,
}

/// A field with stored values.
pub(super) struct StoredField<'s> {
    pub(super) field: FragmentField,
    pub(super) reference: FieldRef,
    pub(super) name: &'s str,
    pub(super) kind: FieldType,
}

/// Returns the fields with stored values: all but the dimensions of dense arrays.
pub(super) fn stored_fields(schema: &ArraySchema) -> impl Iterator<Item = StoredField<'_>> {
    let attributes =
        (0..schema.attr_count()).map(|index| (FragmentField::Attribute(index), FieldRef::Attribute(index)));
    let dimensions = if schema.is_dense() { 0 } else { schema.dim_count() };
    let dimensions = (0..dimensions).map(|index| (FragmentField::Dimension(index), FieldRef::Dimension(index)));
    attributes.chain(dimensions).filter_map(|(field, reference)| {
        Some(StoredField { field, reference, name: schema.field_name(reference)?, kind: schema.field_type(reference)? })
    })
}

/// Checks the columns and each single cell. `first` is the number of the first cell in error
/// messages. `any_utf8` allows strings that are not UTF-8.
pub(super) fn check<'a>(
    schema: &ArraySchema,
    cells: &'a WriteBatch<'_>,
    first: u64,
    any_utf8: bool,
) -> Result<CheckedCells<'a>> {
    let fields = schema.fields_by_name();
    let mut columns = HashMap::new();
    for (name, column) in cells.columns() {
        match fields.get(name) {
            None => return Err(unknown_field(schema, name).into()),
            Some(FieldRef::Dimension(_)) if schema.is_dense() => {
                let what =
                    "unexpected coordinates; a dense array derives them from the ranges and the order".to_owned();
                return Err(CellsError::ColumnShape { field: name.to_string(), what }.into());
            }
            Some(_) => {}
        }
        if columns.insert(name, column).is_some() {
            return Err(CellsError::RepeatedColumn { name: name.to_string() }.into());
        }
    }
    let mut checked = CheckedCells { len: 0, fields: Vec::new() };
    for (place, StoredField { field, name, kind, .. }) in stored_fields(schema).enumerate() {
        let column = columns.get(name).ok_or_else(|| CellsError::MissingColumn { name: name.to_owned() })?;
        let cells = Checker { name, kind, first, any_utf8 }.column(column)?;
        let len = cells.len();
        if place == 0 {
            checked.len = len;
        } else if len != checked.len {
            let what = format!("found {len} cells, expected {} as for the other fields", checked.len);
            return Err(CellsError::ColumnShape { field: name.to_owned(), what }.into());
        }
        checked.fields.push(CheckedColumn { field, cells });
    }
    Ok(checked)
}

//! The value of `--select`.

use std::collections::{HashMap, HashSet};

use tdb_array::Array;
use tdb_exchange::Field;
use tdb_schema::{ArraySchema, DimensionLabel, FieldRef, FieldType};

use crate::failure::{Failure, Result};
use crate::names::names_in;

/// The source of an output column.
#[derive(Clone, Copy, Debug)]
pub(in crate::command) enum Selected<'a> {
    /// A dimension or attribute.
    Field(FieldRef),
    /// A label of a dimension.
    Label(&'a DimensionLabel),
}

impl<'a> Selected<'a> {
    /// Returns the name of the column.
    pub(in crate::command) fn name(self, schema: &'a ArraySchema) -> &'a str {
        match self {
            Self::Field(field) => schema.field_name(field).unwrap_or_default(),
            Self::Label(label) => &label.name,
        }
    }

    /// Returns the bytes per cell, or `None` for cells of variable length.
    pub(in crate::command) fn cell_size(self, schema: &ArraySchema) -> Option<u64> {
        match self {
            Self::Field(field) => schema.field_type(field).and_then(FieldType::cell_size),
            Self::Label(label) => {
                label.cell_val_num.fixed().map(|number| u64::from(number) * label.datatype.size() as u64)
            }
        }
    }

    /// Returns the printer of the cells.
    pub(in crate::command) fn field(self, array: &Array, raw: bool) -> Result<Field> {
        match self {
            Self::Field(field) => Ok(Field::of(array, field, raw)?),
            Self::Label(label) => Ok(Field::new(&label.name, label.datatype, label.cell_val_num, None, raw)),
        }
    }
}

/// Returns the requested fields, or by default all dimensions and attributes, to show the
/// coordinates of each cell.
pub(in crate::command) fn selected<'a>(schema: &'a ArraySchema, names: &[String]) -> Result<Vec<Selected<'a>>> {
    if names.is_empty() {
        return Ok(schema.fields().map(Selected::Field).collect());
    }
    let mut known: HashMap<&str, Selected<'_>> =
        schema.labels().iter().map(|label| (label.name.as_str(), Selected::Label(label))).collect();
    known.extend(schema.fields_by_name().into_iter().map(|(name, field)| (name, Selected::Field(field))));
    let mut fields = Vec::new();
    for name in names {
        // A name may contain commas.
        match known.get(name.as_str()) {
            Some(field) => fields.push(*field),
            None => {
                for name in names_in(name)? {
                    fields.push(*known.get(name.as_str()).ok_or_else(|| unknown(schema, &name))?);
                }
            }
        }
    }
    let mut seen = HashSet::new();
    match fields.iter().map(|field| field.name(schema)).find(|name| !seen.insert(*name)) {
        Some(name) => Err(Failure::usage(format!("field {name:?} is selected twice"))),
        None => Ok(fields),
    }
}

fn unknown(schema: &ArraySchema, name: &str) -> Failure {
    let fields = schema.fields().filter_map(|field| schema.field_name(field)).map(str::to_owned);
    let known = fields.chain(schema.labels().iter().map(|label| label.name.clone())).collect();
    tdb_array::ArrayError::Cells(tdb_array::CellsError::UnknownField { name: name.to_owned(), known }).into()
}

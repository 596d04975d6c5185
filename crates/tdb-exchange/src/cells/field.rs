//! Text and JSON output of the cells of one field.

use std::sync::Arc;

use tdb_array::{Array, ArrayError, Column};
use tdb_schema::{ArraySchema, Enumeration, FieldRef};
use tdb_types::datetime::NOT_A_TIME;
use tdb_types::{CellValNum, Datatype, Scalar};

use super::kind::{CellKind, push_string};

/// A printer for the cells of a field of an array.
#[derive(Debug)]
pub struct Field {
    name: String,
    /// `"name":`, encoded once and printed for each row.
    json_name: Vec<u8>,
    kind: CellKind,
    datatype: Datatype,
    nullable: bool,
    values: Option<Values>,
}

/// The values of an attribute's enumeration.
#[derive(Debug)]
struct Values {
    enumeration: Arc<Enumeration>,
    kind: CellKind,
    /// `true` if a cell has several indices.
    many: bool,
}

impl Values {
    /// Returns the CSV text of an index that has no enumeration value, such as `#7`. If `#7` is
    /// itself an enumeration value, returns a JSON object.
    fn shown_index(&self, index: &str) -> String {
        let shown = format!("#{index}");
        let is_value = self.enumeration.values().any(|value| self.kind.text(value) == shown);
        if is_value { format!("{{\"index\":{index}}}") } else { shown }
    }
}

/// Returns the type of a field, `true` if it is nullable, and the name of its enumeration.
///
/// # Panics
/// If the schema does not have the field.
pub(crate) fn type_of(schema: &ArraySchema, field: FieldRef) -> (Datatype, CellValNum, bool, Option<&str>) {
    match field {
        FieldRef::Dimension(index) => {
            let dimension = &schema.dimensions()[index];
            (dimension.datatype(), dimension.cell_val_num(), false, None)
        }
        FieldRef::Attribute(index) => {
            let attribute = &schema.attributes()[index];
            (attribute.datatype(), attribute.cell_val_num(), attribute.is_nullable(), attribute.enumeration())
        }
    }
}

impl Field {
    /// Creates the printer for a field of `array`. If `raw`, prints stored integers instead of
    /// dates and enumeration values.
    ///
    /// # Errors
    /// Fails if the enumeration of the field cannot be read.
    pub fn of(array: &Array, field: FieldRef, raw: bool) -> Result<Self, ArrayError> {
        let schema = array.schema();
        let name = schema.field_name(field).unwrap_or_default();
        let (datatype, number, nullable, enumeration) = type_of(schema, field);
        let enumeration = enumeration.filter(|_| !raw).map(|name| array.enumeration(name)).transpose()?;
        Ok(Self { nullable, ..Self::new(name, datatype, number, enumeration, raw) })
    }

    /// Creates a non-nullable field of this type, such as the column of an aggregate.
    #[must_use]
    pub fn new(
        name: &str,
        datatype: Datatype,
        number: CellValNum,
        enumeration: Option<Arc<Enumeration>>,
        raw: bool,
    ) -> Self {
        let mut json_name = Vec::new();
        push_string(name, &mut json_name);
        json_name.push(b':');
        let values = enumeration.map(|enumeration| Values {
            kind: CellKind::of(enumeration.datatype(), enumeration.cell_val_num(), raw),
            enumeration,
            many: number != CellValNum::ONE,
        });
        Self {
            name: name.to_owned(),
            json_name,
            kind: CellKind::of(datatype, number, raw),
            datatype,
            nullable: false,
            values,
        }
    }

    /// Returns the name. The name of an anonymous attribute is empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// Returns `true` if a table aligns the cells to the right.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.values.as_ref().map_or(self.kind, |values| values.kind).is_numeric()
            && self.values.as_ref().is_none_or(|values| !values.many)
    }

    pub(crate) fn json_member(&self, column: &Column, cell: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.json_name);
        self.push_json(column, cell, out);
    }

    /// Appends the cell as JSON.
    pub fn push_json(&self, column: &Column, cell: usize, out: &mut Vec<u8>) {
        match column.cell(cell) {
            None => out.extend_from_slice(b"null"),
            Some(bytes) => self.json(bytes, out),
        }
    }

    fn json(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match &self.values {
            None if self.kind.is_no_time(bytes) => out.extend_from_slice(b"null"),
            None => self.kind.json(bytes, out),
            Some(values) if !values.many => self.json_value(values, bytes, out),
            Some(values) => {
                out.push(b'[');
                for (position, index) in bytes.chunks_exact(self.datatype.size()).enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    self.json_value(values, index, out);
                }
                out.push(b']');
            }
        }
    }

    fn json_value(&self, values: &Values, index: &[u8], out: &mut Vec<u8>) {
        match self.value(values, index) {
            Ok(value) if values.kind.is_no_time(value) => out.extend_from_slice(b"null"),
            Ok(value) => values.kind.json(value, out),
            Err(index) => out.extend_from_slice(format!("{{\"index\":{index}}}").as_bytes()),
        }
    }

    /// Returns the value at an index, or the index as text if the enumeration has no such value.
    fn value<'a>(&self, values: &'a Values, index: &[u8]) -> Result<&'a [u8], String> {
        let scalar = Scalar::from_le_bytes(self.datatype.physical(), index);
        let text = scalar.map_or_else(String::new, |scalar| scalar.to_string());
        text.parse().ok().and_then(|index| values.enumeration.value(index)).ok_or(text)
    }

    /// Returns the cell as text for people, or `None` if the cell is null. The text of NaT is
    /// `NaT`.
    #[must_use]
    pub fn text(&self, column: &Column, cell: usize) -> Option<String> {
        let bytes = column.cell(cell)?;
        let mut text = Vec::new();
        let is_text = self.push_text_of(bytes, &mut text);
        Some(if is_text { String::from_utf8_lossy(&text).into_owned() } else { NOT_A_TIME.to_owned() })
    }

    /// Appends the cell as text for CSV. Appends nothing and returns `false` if the cell is null or
    /// NaT.
    pub(crate) fn push_text(&self, column: &Column, cell: usize, out: &mut Vec<u8>) -> bool {
        column.cell(cell).is_some_and(|bytes| self.push_text_of(bytes, out))
    }

    fn push_text_of(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        match &self.values {
            None if self.kind.is_no_time(bytes) => return false,
            None => self.kind.push_text(bytes, out),
            Some(values) if !values.many => match self.value(values, bytes) {
                Ok(value) if values.kind.is_no_time(value) => return false,
                Ok(value) => values.kind.push_text(value, out),
                Err(index) => out.extend_from_slice(values.shown_index(&index).as_bytes()),
            },
            Some(_) => self.json(bytes, out),
        }
        true
    }
}

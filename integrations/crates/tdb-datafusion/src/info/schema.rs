//! The table of fields.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use tdb_array::Array;
use tdb_array::tdb_schema::FieldRef;

use crate::opened;

pub(super) const COLUMNS: &[(&str, DataType, bool)] = &[
    ("name", DataType::Utf8, false),
    ("role", DataType::Utf8, false),
    ("datatype", DataType::Utf8, false),
    ("values_per_cell", DataType::Utf8, false),
    ("nullable", DataType::Boolean, false),
    ("enumeration", DataType::Utf8, true),
    ("domain", DataType::Utf8, true),
    ("tile", DataType::Utf8, true),
    ("filters", DataType::Utf8, false),
];

/// Returns a row per dimension and attribute.
pub(super) fn rows(_uri: &str, array: &Array) -> Result<Vec<ArrayRef>> {
    let schema = array.schema();
    let (mut names, mut roles, mut datatypes, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut nullable, mut enumerations) = (Vec::new(), Vec::new());
    let (mut domains, mut tiles, mut filters) = (Vec::new(), Vec::new(), Vec::new());
    for (name, field) in opened::fields(schema) {
        let Some(cells) = schema.field_type(field) else { continue };
        names.push(name.to_owned());
        datatypes.push(cells.datatype.name());
        numbers.push(cells.cell_val_num.fixed().map_or_else(|| "var".to_owned(), |number| number.to_string()));
        nullable.push(cells.nullable);
        filters.push(schema.filters_of(field).to_string());
        match field {
            FieldRef::Dimension(index) => {
                let dimension = &schema.dimensions()[index];
                roles.push("dimension");
                enumerations.push(None);
                domains.push(dimension.domain().map(|(low, high)| format!("{low}..={high}")));
                tiles.push(dimension.tile_extent().map(|extent| extent.to_string()));
            }
            FieldRef::Attribute(index) => {
                roles.push("attribute");
                enumerations.push(schema.attributes()[index].enumeration().map(str::to_owned));
                domains.push(None);
                tiles.push(None);
            }
        }
    }
    Ok(vec![
        Arc::new(StringArray::from(names)),
        Arc::new(StringArray::from(roles)),
        Arc::new(StringArray::from(datatypes)),
        Arc::new(StringArray::from(numbers)),
        Arc::new(BooleanArray::from(nullable)),
        Arc::new(StringArray::from(enumerations)),
        Arc::new(StringArray::from(domains)),
        Arc::new(StringArray::from(tiles)),
        Arc::new(StringArray::from(filters)),
    ])
}

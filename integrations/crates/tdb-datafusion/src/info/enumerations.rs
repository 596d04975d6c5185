//! The table of enumeration values.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::error::Result;
use tdb_array::Array;

use super::metadata::text_of;
use crate::error;

pub(super) fn columns() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, false);
    Arc::new(Schema::new(vec![
        field("enumeration", DataType::Utf8),
        field("ordered", DataType::Boolean),
        field("datatype", DataType::Utf8),
        field("position", DataType::UInt64),
        Field::new("value", DataType::Utf8, true),
    ]))
}

/// Returns a row per value. `value` is null unless it is a string or a single number.
pub(super) fn rows(uri: &str, array: &Array) -> Result<RecordBatch> {
    let (mut names, mut ordered, mut datatypes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut positions, mut values) = (Vec::new(), Vec::new());
    for reference in array.schema().enumerations() {
        let enumeration = array.enumeration(&reference.name).map_err(|error| error::of_array(uri, error))?;
        for (position, value) in enumeration.values().enumerate() {
            names.push(enumeration.name().to_owned());
            ordered.push(enumeration.is_ordered());
            datatypes.push(enumeration.datatype().name());
            positions.push(position as u64);
            values.push(text_of(enumeration.datatype(), value));
        }
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(names)),
        Arc::new(BooleanArray::from(ordered)),
        Arc::new(StringArray::from(datatypes)),
        Arc::new(UInt64Array::from(positions)),
        Arc::new(StringArray::from(values)),
    ];
    Ok(RecordBatch::try_new(self::columns(), columns)?)
}

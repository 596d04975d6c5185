//! The table of enumeration values.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, StringArray, UInt64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use tdb_array::Array;

use super::metadata::text_of;
use crate::error;

pub(super) const COLUMNS: &[(&str, DataType, bool)] = &[
    ("enumeration", DataType::Utf8, false),
    ("ordered", DataType::Boolean, false),
    ("datatype", DataType::Utf8, false),
    ("position", DataType::UInt64, false),
    ("value", DataType::Utf8, true),
];

/// Returns a row per value. `value` is null unless it is a string or a single number.
pub(super) fn rows(uri: &str, array: &Array) -> Result<Vec<ArrayRef>> {
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
    Ok(vec![
        Arc::new(StringArray::from(names)),
        Arc::new(BooleanArray::from(ordered)),
        Arc::new(StringArray::from(datatypes)),
        Arc::new(UInt64Array::from(positions)),
        Arc::new(StringArray::from(values)),
    ])
}

//! The table of metadata.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray, UInt32Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use tdb_array::Array;
use tdb_array::tdb_types::{Datatype, Scalar};

use crate::error;

pub(super) const COLUMNS: &[(&str, DataType, bool)] = &[
    ("key", DataType::Utf8, false),
    ("datatype", DataType::Utf8, false),
    ("count", DataType::UInt32, false),
    ("value", DataType::Utf8, true),
];

/// Returns a row per key. Multiple numbers are separated by commas. `value` is null for bytes that
/// are not text.
pub(super) fn rows(uri: &str, array: &Array) -> Result<Vec<ArrayRef>> {
    let metadata = array.metadata().map_err(|error| error::of_array(uri, error))?;
    let (mut keys, mut datatypes, mut counts, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (key, value) in metadata.iter() {
        keys.push(key.into_owned());
        datatypes.push(value.datatype().name());
        counts.push(value.count());
        values.push(text_of(value.datatype(), value.as_bytes()));
    }
    Ok(vec![
        Arc::new(StringArray::from(keys)),
        Arc::new(StringArray::from(datatypes)),
        Arc::new(UInt32Array::from(counts)),
        Arc::new(StringArray::from(values)),
    ])
}

/// Formats values: strings unchanged, numbers separated by commas.
pub(super) fn text_of(datatype: Datatype, bytes: &[u8]) -> Option<String> {
    let is_text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char | Datatype::GeomWkt);
    if is_text {
        return String::from_utf8(bytes.to_vec()).ok();
    }
    if datatype.is_bytes() || datatype == Datatype::Any {
        return None;
    }
    let numbers = bytes.chunks(datatype.size()).map(|value| Scalar::from_le_bytes(datatype.physical(), value));
    let numbers: Vec<String> = numbers.map(|value| value.map(|value| value.to_string())).collect::<Option<_>>()?;
    Some(numbers.join(", "))
}

//! The table of fragments.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, RecordBatch, StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::error::Result;
use tdb_array::Array;

use crate::error;

pub(super) fn columns() -> SchemaRef {
    let field = |name, data_type| Field::new(name, data_type, false);
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    Arc::new(Schema::new(vec![
        field("name", DataType::Utf8),
        field("first", time.clone()),
        field("last", time),
        field("format_version", DataType::UInt32),
        field("cells", DataType::UInt64),
        field("tiles", DataType::UInt64),
        field("bytes", DataType::UInt64),
        Field::new("domain", DataType::Utf8, true),
        field("schema", DataType::Utf8),
    ]))
}

/// Returns a row per visible fragment, oldest first.
pub(super) fn rows(uri: &str, array: &Array) -> Result<RecordBatch> {
    let failed = |error| error::of_array(uri, error);
    let fragments = array.fragments().map_err(failed)?;
    let moment = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    let bytes = fragments.iter().map(|fragment| fragment.bytes().map_err(failed)).collect::<Result<Vec<u64>>>()?;
    let domain = fragments.iter().map(|fragment| {
        let sides = fragment.non_empty_coordinates()?;
        let sides = sides.iter().map(|side| format!("{}..={}", side.start(), side.end()));
        Some(sides.collect::<Vec<_>>().join(", "))
    });
    let each = |value: fn(&tdb_array::Fragment) -> u64| UInt64Array::from_iter_values(fragments.iter().map(value));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(fragments.iter().map(|fragment| fragment.name().to_string()))),
        Arc::new(TimestampMillisecondArray::from_iter_values(
            fragments.iter().map(|fragment| moment(fragment.time().start)),
        )),
        Arc::new(TimestampMillisecondArray::from_iter_values(
            fragments.iter().map(|fragment| moment(fragment.time().end)),
        )),
        Arc::new(UInt32Array::from_iter_values(fragments.iter().map(|fragment| fragment.version().number()))),
        Arc::new(each(tdb_array::Fragment::cell_count)),
        Arc::new(each(tdb_array::Fragment::tile_count)),
        Arc::new(UInt64Array::from(bytes)),
        Arc::new(domain.collect::<StringArray>()),
        Arc::new(StringArray::from_iter_values(fragments.iter().map(tdb_array::Fragment::schema_name))),
    ];
    Ok(RecordBatch::try_new(self::columns(), columns)?)
}

//! The table of fragments.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray, TimestampMillisecondArray, UInt32Array, UInt64Array};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::error::Result;
use tdb_array::{Array, TimeRange};

use crate::error;

pub(super) const COLUMNS: &[(&str, DataType, bool)] = &[
    ("name", DataType::Utf8, false),
    ("first", DataType::Timestamp(TimeUnit::Millisecond, None), false),
    ("last", DataType::Timestamp(TimeUnit::Millisecond, None), false),
    ("format_version", DataType::UInt32, false),
    ("cells", DataType::UInt64, false),
    ("tiles", DataType::UInt64, false),
    ("bytes", DataType::UInt64, false),
    ("domain", DataType::Utf8, true),
    ("schema", DataType::Utf8, false),
];

/// Returns a row per visible fragment, oldest first.
pub(super) fn rows(uri: &str, array: &Array) -> Result<Vec<ArrayRef>> {
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
    let times = |value: fn(TimeRange) -> u64| {
        TimestampMillisecondArray::from_iter_values(fragments.iter().map(|fragment| moment(value(fragment.time()))))
    };
    Ok(vec![
        Arc::new(StringArray::from_iter_values(fragments.iter().map(|fragment| fragment.name().to_string()))),
        Arc::new(times(|time| time.start)),
        Arc::new(times(|time| time.end)),
        Arc::new(UInt32Array::from_iter_values(fragments.iter().map(|fragment| fragment.version().number()))),
        Arc::new(each(tdb_array::Fragment::cell_count)),
        Arc::new(each(tdb_array::Fragment::tile_count)),
        Arc::new(UInt64Array::from(bytes)),
        Arc::new(domain.collect::<StringArray>()),
        Arc::new(StringArray::from_iter_values(fragments.iter().map(tdb_array::Fragment::schema_name))),
    ])
}

//! Random metadata entries.

use tdb_array::MetadataValue;
use tdb_reference::model::{Bytes, MetadataEntry};
use tdb_types::Datatype;

use super::random::Random;

/// Generates entries with values of any datatype.
pub fn entries(random: &mut Random) -> Vec<MetadataEntry> {
    let count = random.between(1, 5);
    (0..count)
        .map(|index| {
            // The library has no metadata of datatype `any`.
            let datatype = *random.pick(Datatype::ALL);
            let datatype = if datatype == Datatype::Any { Datatype::Blob } else { datatype };
            let count = random.between(1, 4);
            let bytes = (0..count * datatype.size()).map(|_| random.below(256) as u8).collect();
            let key = if random.percent(10) { format!("k é {index}") } else { format!("k{index}") };
            MetadataEntry { key, datatype, count: count as u32, value: Bytes(bytes) }
        })
        .collect()
}

/// Converts an entry to a metadata value of tdb.
pub fn value(entry: &MetadataEntry) -> Result<MetadataValue, String> {
    MetadataValue::new(entry.datatype, entry.value.0.clone()).map_err(|error| error.to_string())
}

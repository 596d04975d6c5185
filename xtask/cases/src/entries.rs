//! Random metadata entries.

use std::borrow::Cow;

use tdb_array::{Metadata, MetadataValue, MetadataWriter};
use tdb_reference::model::{Bytes, MetadataEntry};
use tdb_types::Datatype;

use super::ours::describe;
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

/// Changes metadata of an array or group with tdb.
pub fn change(mut writer: MetadataWriter, put: &[MetadataEntry], delete: &[String]) -> Result<(), String> {
    for entry in put {
        writer = writer.put(entry.key.as_str(), value(entry)?);
    }
    let writer = delete.iter().fold(writer, |writer, key| writer.delete(key.as_str()));
    writer.commit().map_err(|error| describe(&error))
}

/// Converts tdb's metadata to entries.
pub fn entries_of(metadata: &Metadata) -> Vec<MetadataEntry> {
    let entry = |(key, value): (Cow<'_, str>, &MetadataValue)| MetadataEntry {
        key: key.into_owned(),
        datatype: value.datatype(),
        count: value.count(),
        value: Bytes(value.as_bytes().to_vec()),
    };
    metadata.iter().map(entry).collect()
}

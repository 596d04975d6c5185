//! Array and group metadata: keys with typed values.

use std::collections::BTreeMap;

use tdb_generic_tile::{GenericTileDecoder, GenericTileError};
use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, Spans};

use crate::{MetadataValue, MetadataWriteError};

/// A metadata file: the changes of one write session, or the consolidated changes of several files.
///
/// ```text
/// until the end: u32 length | key | u8 deleted | not deleted: u8 datatype | u32 number of values | values
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataFile {
    /// The changes in file order. Libraries write them in bytewise order of the keys.
    pub changes: Vec<MetadataChange>,
}

/// A change to a metadata key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataChange {
    /// The key, not necessarily UTF-8.
    pub key: Vec<u8>,
    /// The new value, or `None` if the key was deleted.
    pub value: Option<MetadataValue>,
}

impl MetadataFile {
    /// Minimum size of a change, in bytes: the deletion of an empty key.
    const MIN_CHANGE: u64 = 5;

    /// Reads an entire file, which is a generic tile. Records the fields into `spans` if given.
    ///
    /// # Errors
    /// Fails if the tile or payload is damaged, unsupported or too large, or if the encryption key
    /// is missing, wrong or not needed.
    pub fn parse_file(
        bytes: &[u8],
        decoder: &mut GenericTileDecoder,
        spans: Option<&Spans>,
    ) -> Result<Self, GenericTileError> {
        let tile = decoder.decode_file(bytes, spans)?;
        Ok(tile.parse_payload(spans, Self::parse)?)
    }

    /// Reads the payload to the end.
    ///
    /// # Errors
    /// Fails if the bytes are truncated, a datatype is unknown, or a flag is neither 0 nor 1.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let mut changes = Vec::new();
        Self::for_each(reader, |change| changes.push(change))?;
        Ok(Self { changes })
    }

    /// Reads the payload to the end and passes each change to `take`. This saves memory compared
    /// with [`parse`](Self::parse), because a deleted key takes much more space in memory than in
    /// the file.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn for_each(reader: &mut ByteReader<'_>, mut take: impl FnMut(MetadataChange)) -> Result<(), DecodeError> {
        let mut index = 0;
        while reader.remaining() > 0 {
            reader.count("entry", 1, Self::MIN_CHANGE)?;
            take(reader.group(|| format!("entry {index}"), MetadataChange::parse)?);
            index += 1;
        }
        Ok(())
    }

    /// Writes the payload, the inverse of [`parse`](Self::parse).
    ///
    /// # Errors
    /// Fails without writing if a key is longer than 4294967295 bytes.
    pub fn write(&self, writer: &mut ByteWriter) -> Result<(), MetadataWriteError> {
        if let Some(change) = self.changes.iter().find(|change| u32::try_from(change.key.len()).is_err()) {
            return Err(MetadataWriteError::KeyTooLong { len: change.key.len() as u64 });
        }
        self.changes.iter().for_each(|change| change.write(writer));
        Ok(())
    }

    /// Applies the changes to `entries`, in file order.
    pub fn apply(self, entries: &mut BTreeMap<Vec<u8>, MetadataValue>) {
        self.changes.into_iter().for_each(|change| change.apply(entries));
    }
}

impl MetadataChange {
    /// Inserts the value into `entries`, or removes the key.
    pub fn apply(self, entries: &mut BTreeMap<Vec<u8>, MetadataValue>) {
        match self.value {
            Some(value) => entries.insert(self.key, value),
            None => entries.remove(&self.key),
        };
    }

    fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let length = reader.u32("key length")?;
        let key = reader.bytes("key", u64::from(length))?.to_vec();
        reader.explain(|| format!("{:?}", String::from_utf8_lossy(&key)));
        if reader.bool("deleted")? {
            return Ok(Self { key, value: None });
        }
        let datatype = Datatype::read(reader, "datatype")?;
        let count = reader.u32("value count")?;
        let bytes = reader.bytes("values", u64::from(count).saturating_mul(datatype.size() as u64))?;
        let value = MetadataValue::from_parts(datatype, count, bytes.to_vec());
        reader.explain(|| shorten(&value));
        Ok(Self { key, value: Some(value) })
    }

    fn write(&self, writer: &mut ByteWriter) {
        writer.u32(u32::try_from(self.key.len()).unwrap_or(u32::MAX));
        writer.bytes(&self.key);
        writer.bool(self.value.is_none());
        if let Some(value) = &self.value {
            value.datatype().write(writer);
            writer.u32(value.count());
            writer.bytes(value.as_bytes());
        }
    }
}

/// Formats a value, truncated to 80 characters.
fn shorten(value: &MetadataValue) -> String {
    const MOST: usize = 80;
    let datatype = value.datatype();
    let is_long =
        !datatype.is_string() && datatype != Datatype::Char && value.as_bytes().len() > MOST * datatype.size();
    let text = match is_long {
        // The full text would take many times the space of the value.
        true => format!(
            "{}…",
            MetadataValue::from_parts(datatype, MOST as u32, value.as_bytes()[..MOST * datatype.size()].to_vec())
        ),
        false => value.to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

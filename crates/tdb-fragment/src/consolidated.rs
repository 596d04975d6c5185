//! Consolidated fragment metadata: the footers of many fragments in one file, so that an array
//! opens with a single read.
//!
//! ```text
//! u32 fragment count | count × { u64 length | name | u64 offset of the footer } | footers
//! ```
//!
//! The file is a generic tile with this payload. Offsets count from the start of the payload. Each
//! footer equals the footer in the fragment's own file, without the trailing length. Sections are
//! not included.

use std::collections::HashSet;
use std::ops::Range;

use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder, GenericTileError};
use tdb_types::{ByteReader, ByteWriter, DecodeError, Spans};

use crate::error::{FragmentError, Result};

/// The footers of many fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsolidatedFooters {
    payload: Vec<u8>,
    entries: Vec<Entry>,
    /// The indices of `entries`, sorted by name, then by index.
    by_name: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    footer: Range<usize>,
}

impl ConsolidatedFooters {
    /// Parses a whole `.meta` file. Footers are stored as bytes and parsed later.
    ///
    /// # Errors
    /// Fails if the generic tile cannot be unfiltered, if the payload is truncated, if a name is
    /// not UTF-8, or if an offset is repeated or outside of the payload.
    pub fn parse_file(bytes: &[u8], decoder: &mut GenericTileDecoder, spans: Option<&Spans>) -> Result<Self> {
        let tile = decoder.decode_file(bytes, spans).map_err(wrap)?;
        let entries = parse_entries(tile.payload_reader(spans))?;
        let mut by_name: Vec<usize> = (0..entries.len()).collect();
        by_name.sort_by_key(|index| entries[*index].fragment());
        Ok(Self { payload: tile.payload, entries, by_name })
    }

    /// Writes a whole file with the names and footers of fragments.
    ///
    /// # Errors
    /// Fails if there are 2^32 or more fragments, or if the encoder fails.
    pub fn write_file(fragments: &[(&str, &[u8])], encoder: &mut GenericTileEncoder) -> Result<Vec<u8>> {
        let too_many = |_| FragmentError::inconsistent("fragment count", fragments.len(), "fewer than 2^32");
        let mut payload = ByteWriter::new();
        payload.u32(u32::try_from(fragments.len()).map_err(too_many)?);
        let entries: usize = fragments.iter().map(|(name, _)| 16 + name.len()).sum();
        let mut offset = (4 + entries) as u64;
        for (name, footer) in fragments {
            payload.string_u64(name);
            payload.u64(offset);
            offset += footer.len() as u64;
        }
        for (_, footer) in fragments {
            payload.bytes(footer);
        }
        let mut writer = ByteWriter::new();
        encoder.encode(payload.as_slice(), &mut writer).map_err(wrap)?;
        Ok(writer.into_bytes())
    }

    /// Returns the number of fragments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if the file has no fragments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the size of the payload in bytes. The whole payload is kept in memory.
    #[must_use]
    pub fn memory_used(&self) -> u64 {
        self.payload.len() as u64
    }

    /// Iterates over the names of the fragments, without folders, and over their footers.
    ///
    /// Pass a footer to [`FragmentFooter::parse`](crate::FragmentFooter::parse). The offsets of the
    /// readers count from the start of the payload.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, ByteReader<'_>)> {
        self.entries.iter().map(|entry| (entry.fragment(), self.footer(entry)))
    }

    /// Returns the footer of the named fragment, or `None` if the file does not have the fragment.
    /// If the name occurs twice, the first footer counts.
    #[must_use]
    pub fn get(&self, fragment: &str) -> Option<ByteReader<'_>> {
        let entry = |place: &usize| &self.entries[*place];
        let first = self.by_name.partition_point(|place| entry(place).fragment() < fragment);
        let found = self.by_name.get(first).map(entry).filter(|entry| entry.fragment() == fragment)?;
        Some(self.footer(found))
    }

    fn footer(&self, entry: &Entry) -> ByteReader<'_> {
        let bytes = self.payload.get(entry.footer.clone()).unwrap_or_default();
        ByteReader::at(bytes, entry.footer.start as u64)
    }
}

impl Entry {
    /// Returns the last component of the name. Before format 9, names are whole URIs.
    fn fragment(&self) -> &str {
        let name = self.name.trim_end_matches('/');
        name.rsplit_once('/').map_or(name, |(_, last)| last)
    }
}

fn parse_entries(mut reader: ByteReader<'_>) -> Result<Vec<Entry>, DecodeError> {
    let len = reader.remaining();
    let count = reader.u32("fragment count")?;
    let count = reader.count("fragments", u64::from(count), 16)?;
    let mut entries = Vec::with_capacity(count);
    let mut starts = HashSet::with_capacity(count);
    for index in 0..count {
        entries.push(reader.group(
            || format!("fragment {index}"),
            |reader| {
                let name = reader.string_u64("name")?;
                let at = reader.offset();
                let offset = reader.u64("footer offset")?;
                let start = usize::try_from(offset).ok().filter(|start| *start < len);
                let expected = "a unique offset within the payload";
                // Rejects footers at the same offset, because their total size could far exceed the
                // file.
                let start = start.filter(|start| starts.insert(*start));
                let start = start.ok_or_else(|| DecodeError::invalid("footer offset", at, offset, expected))?;
                Ok(Entry { name, footer: start..len })
            },
        )?);
    }
    end_footers(&mut entries);
    Ok(entries)
}

/// Ends each footer where the next footer begins, in any order of entries.
fn end_footers(entries: &mut [Entry]) {
    let mut starts: Vec<usize> = entries.iter().map(|entry| entry.footer.start).collect();
    starts.sort_unstable();
    for entry in entries {
        let next = starts.partition_point(|start| *start <= entry.footer.start);
        if let Some(&end) = starts.get(next) {
            entry.footer.end = end;
        }
    }
}

fn wrap(source: GenericTileError) -> FragmentError {
    FragmentError::File { what: "consolidated fragment metadata", source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use tdb_types::{FormatVersion, Limits};

    use super::*;

    fn encoder() -> GenericTileEncoder {
        GenericTileEncoder::new(FormatVersion::DEFAULT)
    }

    fn decoder() -> GenericTileDecoder {
        GenericTileDecoder::new(Limits::SMALL)
    }

    #[test]
    fn round_trip() {
        let second = ("file:///arrays/array/__2_2_b_8", &b"second"[..]);
        let fragments = [second, ("__1_1_a_22", &b"first"[..]), ("__2_2_b_8", b"never seen")];
        let file = ConsolidatedFooters::write_file(&fragments, &mut encoder()).unwrap();
        let footers = ConsolidatedFooters::parse_file(&file, &mut decoder(), None).unwrap();
        let read: Vec<_> = footers.iter().map(|(name, reader)| (name, reader.rest())).collect();
        let expected = [("__2_2_b_8", &b"second"[..]), ("__1_1_a_22", b"first"), ("__2_2_b_8", b"never seen")];
        assert_eq!(read, expected);
        assert_eq!(footers.get("__1_1_a_22").unwrap().rest(), b"first");
        assert_eq!(footers.get("__2_2_b_8").unwrap().rest(), b"second");
        assert!(footers.get("__3_3_c_22").is_none());
    }

    #[test]
    fn footers_that_share_bytes_are_rejected() {
        let mut payload = ByteWriter::new();
        payload.u32(2);
        for name in ["a", "b"] {
            payload.string_u64(name);
            payload.u64(38);
        }
        payload.bytes(b"footer");
        let mut file = ByteWriter::new();
        encoder().encode(payload.as_slice(), &mut file).unwrap();
        let error = ConsolidatedFooters::parse_file(file.as_slice(), &mut decoder(), None).unwrap_err();
        assert!(error.to_string().contains("footer offset: found 38"), "{error}");
    }

    #[test]
    fn an_offset_beyond_the_payload_is_rejected() {
        let mut payload = ByteWriter::new();
        payload.u32(1);
        payload.string_u64("a");
        payload.u64(1000);
        let mut file = ByteWriter::new();
        encoder().encode(payload.as_slice(), &mut file).unwrap();
        let error = ConsolidatedFooters::parse_file(file.as_slice(), &mut decoder(), None).unwrap_err();
        assert!(error.to_string().contains("footer offset: found 1000"), "{error}");
    }
}

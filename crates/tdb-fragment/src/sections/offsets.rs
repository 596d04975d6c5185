//! The offsets of tiles in the data files.

use std::ops::Range;

use tdb_types::{ByteReader, ByteWriter, DecodeError, Result};

use super::{per_tile, write_counted};

/// The offsets of the tiles of a data file, validated to be ascending and within the file.
///
/// ```text
/// u64 count | count × u64 offset of the filtered tile in the data file
/// ```
///
/// Each tile ends at the start of the next tile, and the last tile at the end of the file. A field
/// without this data file has a list of zeros or an empty list, and a file size of 0 in the footer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileOffsets {
    starts: Vec<u64>,
    file_size: u64,
}

impl TileOffsets {
    /// Creates the offsets of a data file of `file_size` bytes.
    ///
    /// # Errors
    /// Fails if the offsets descend or exceed the file.
    pub fn new(starts: Vec<u64>, file_size: u64) -> Result<Self> {
        check(&starts, file_size, 0)?;
        Ok(Self { starts, file_size })
    }

    /// Parses the offsets of `tiles` tiles in a data file of `file_size` bytes.
    ///
    /// If `surplus` is `true`, the list may have extra values, which this function discards.
    ///
    /// # Errors
    /// Fails if the bytes are truncated, if the number of offsets is wrong, or if offsets descend
    /// or exceed the file.
    pub fn parse(reader: &mut ByteReader<'_>, tiles: u64, file_size: u64, surplus: bool) -> Result<Self> {
        let offset = reader.offset();
        let starts = per_tile(reader, "tile offsets", tiles, surplus)?;
        if starts.is_empty() && tiles > 0 && file_size > 0 {
            return Err(DecodeError::invalid("count", offset, 0, "one offset per tile of a non-empty data file"));
        }
        check(&starts, file_size, offset + 8)?;
        Ok(Self { starts, file_size })
    }

    /// Writes the offsets, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        write_counted(&self.starts, writer);
    }

    /// Returns the byte range of a tile in the data file, or `None` if the tile does not exist.
    #[must_use]
    #[inline]
    pub fn range(&self, tile: u64) -> Option<Range<u64>> {
        let index = usize::try_from(tile).ok()?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.file_size);
        Some(start..end)
    }

    /// Returns the number of tiles, or 0 if the list was omitted because the data file is empty.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns `true` if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the start of each tile.
    #[must_use]
    pub fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// Returns the size of the data file in bytes, as stored in the footer.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.file_size
    }
}

/// Checks that offsets ascend to at most `file_size`. The first offset was read at `offset`.
fn check(starts: &[u64], file_size: u64, offset: u64) -> Result<()> {
    let ends = starts.iter().skip(1).chain(std::iter::once(&file_size));
    // The fold has no early exit, to make the loop vectorize.
    if starts.iter().zip(ends.clone()).fold(true, |sound, (start, end)| sound & (start <= end)) {
        return Ok(());
    }
    let tile = starts.iter().zip(ends).position(|(start, end)| start > end).unwrap_or_default();
    let found = starts.get(tile).copied().unwrap_or_default();
    let expected = "offsets that ascend within the data file";
    let error = DecodeError::invalid("tile offset", offset.saturating_add(8 * tile as u64), found, expected);
    Err(error.inside(format!("tile {tile} of a data file of {file_size} bytes")))
}

/// The unfiltered size of each tile of values, in bytes.
///
/// ```text
/// u64 count | count × u64 bytes
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileVarSizes(pub Vec<u64>);

impl TileVarSizes {
    /// Parses the sizes of `tiles` tiles. If `surplus` is `true`, the list may have extra values,
    /// which this function discards.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or the number of sizes is wrong.
    pub fn parse(reader: &mut ByteReader<'_>, tiles: u64, surplus: bool) -> Result<Self> {
        per_tile(reader, "tile var sizes", tiles, surplus).map(Self)
    }

    /// Writes the sizes, the inverse of [`parse`](Self::parse).
    pub fn write(&self, writer: &mut ByteWriter) {
        write_counted(&self.0, writer);
    }

    /// Returns the unfiltered size of the values of a tile in bytes, or `None` if the size is not
    /// stored.
    #[must_use]
    pub fn get(&self, tile: u64) -> Option<u64> {
        self.0.get(usize::try_from(tile).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(values: &[u64], tiles: u64, file_size: u64) -> Result<TileOffsets> {
        let mut writer = ByteWriter::new();
        write_counted(values, &mut writer);
        TileOffsets::parse(&mut ByteReader::new(writer.as_slice()), tiles, file_size, false)
    }

    #[test]
    fn a_tile_ends_where_the_next_begins() {
        let offsets = parse(&[0, 10, 10, 30], 4, 42).unwrap();
        let ranges: Vec<_> = (0..5).map(|tile| offsets.range(tile)).collect();
        assert_eq!(ranges, [Some(0..10), Some(10..10), Some(10..30), Some(30..42), None]);
        assert_eq!(offsets.range(u64::MAX), None);
    }

    #[test]
    fn fields_without_the_data_file() {
        assert_eq!(parse(&[0, 0, 0], 3, 0).unwrap().range(2), Some(0..0));
        assert_eq!(parse(&[], 3, 0).unwrap().range(0), None);
    }

    #[test]
    fn surplus_entries_are_left_out() {
        let mut writer = ByteWriter::new();
        write_counted(&[0, 10, 0, 0], &mut writer);
        let parsed = TileOffsets::parse(&mut ByteReader::new(writer.as_slice()), 2, 42, true).unwrap();
        assert_eq!((parsed.len(), parsed.range(1)), (2, Some(10..42)));
        let sizes = TileVarSizes::parse(&mut ByteReader::new(writer.as_slice()), 5, true);
        assert!(sizes.unwrap_err().to_string().contains("one entry per tile"));
    }

    #[test]
    fn nonsense_is_refused() {
        for (values, tiles, size, message) in [
            (&[0, 20, 10][..], 3, 100, "tile 1 of a data file of 100 bytes: tile offset: found 20 at 0x10, expected"),
            (&[0, 101], 2, 100, "tile 1 of a data file of 100 bytes: tile offset: found 101 at 0x10"),
            (&[0, 1], 3, 100, "tile offsets (3 tiles): count: found 2 at 0x0, expected one entry per tile"),
            (&[], 3, 100, "count: found 0 at 0x0, expected one offset per tile"),
        ] {
            let error = parse(values, tiles, size).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let huge = u64::MAX.to_le_bytes();
        let error = TileOffsets::parse(&mut ByteReader::new(&huge), u64::MAX, 1, false).unwrap_err();
        assert!(error.to_string().contains("expected 18446744073709551615 bytes"), "{error}");
    }
}

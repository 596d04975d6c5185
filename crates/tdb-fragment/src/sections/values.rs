//! A value per tile: minimums and maximums, first and last coordinates.

use tdb_types::{ByteReader, ByteWriter, DecodeError, Result, saturating_len};

/// A value per tile, of fixed or variable size. Absent if the format computes no values.
///
/// ```text
/// u64 F | u64 V | F bytes | V bytes
/// ```
///
/// For a fixed-size field, the F bytes are the values of the tiles. For a variable-size field, the
/// F bytes are the `u64` offsets of the values in the V bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TileValues {
    /// No values.
    #[default]
    Absent,
    /// Values of the same size.
    Fixed {
        /// The size of a value in bytes, at least 1.
        size: usize,
        /// The concatenated values.
        bytes: Vec<u8>,
    },
    /// Values of variable size.
    Var {
        /// The start of each value in `bytes`, ascending.
        offsets: Vec<u64>,
        /// The concatenated values.
        bytes: Vec<u8>,
    },
}

/// The expected size of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueShape {
    /// This number of bytes per value.
    Fixed(u64),
    /// Any size, equal for all values. Only `__coords` has this shape. Readers ignore its values.
    AnyFixed,
    /// Variable size.
    Var,
}

impl TileValues {
    /// Parses the values of `tiles` tiles.
    pub(crate) fn parse(reader: &mut ByteReader<'_>, tiles: u64, shape: ValueShape) -> Result<Self> {
        let offset = reader.offset();
        let fixed_len = reader.u64("fixed size")?;
        let var_len = reader.u64("var size")?;
        if fixed_len == 0 && var_len == 0 {
            return Ok(Self::Absent);
        }
        let wrong = |found: u64, expected: &'static str| {
            DecodeError::invalid("fixed size", offset, found, expected).inside(format!("values of {tiles} tiles"))
        };
        match shape {
            ValueShape::Var => {
                if tiles.checked_mul(8) != Some(fixed_len) {
                    return Err(wrong(fixed_len, "an offset of 8 bytes per tile"));
                }
                let offsets = reader.u64_list("value offsets", tiles)?;
                let bytes = reader.bytes("values", var_len)?.to_vec();
                check(&offsets, var_len, offset.saturating_add(16))?;
                Ok(Self::Var { offsets, bytes })
            }
            ValueShape::Fixed(_) | ValueShape::AnyFixed => {
                let size = fixed_len.checked_div(tiles).unwrap_or(0);
                if let ValueShape::Fixed(expected) = shape
                    && size != expected
                {
                    return Err(wrong(fixed_len, "a value of the field's cell size per tile"));
                }
                if size == 0 || size.checked_mul(tiles) != Some(fixed_len) || var_len != 0 {
                    return Err(wrong(fixed_len, "values of the same size, one per tile"));
                }
                let bytes = reader.bytes("values", fixed_len)?.to_vec();
                // The length fits `usize`, because the bytes were read. A value is not longer than
                // all bytes.
                Ok(Self::Fixed { size: saturating_len(size), bytes })
            }
        }
    }

    /// Writes the values in the format of the section.
    pub fn write(&self, writer: &mut ByteWriter) {
        match self {
            Self::Absent => writer.u64_list(&[0, 0]),
            Self::Fixed { bytes, .. } => {
                writer.u64_list(&[bytes.len() as u64, 0]);
                writer.bytes(bytes);
            }
            Self::Var { offsets, bytes } => {
                writer.u64_list(&[8 * offsets.len() as u64, bytes.len() as u64]);
                writer.u64_list(offsets);
                writer.bytes(bytes);
            }
        }
    }

    /// Returns the bytes of a tile's value, or `None` if absent or out of bounds.
    #[must_use]
    pub fn get(&self, tile: u64) -> Option<&[u8]> {
        let index = usize::try_from(tile).ok()?;
        match self {
            Self::Absent => None,
            Self::Fixed { size, bytes } => {
                let start = index.checked_mul(*size)?;
                bytes.get(start..start.checked_add(*size)?)
            }
            Self::Var { offsets, bytes } => {
                let start = usize::try_from(*offsets.get(index)?).ok()?;
                let end = offsets.get(index + 1).map_or(Ok(bytes.len()), |end| usize::try_from(*end)).ok()?;
                bytes.get(start..end)
            }
        }
    }

    /// Returns the number of tiles with a value.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Fixed { size, bytes } => bytes.len().checked_div(*size).unwrap_or(0),
            Self::Var { offsets, .. } => offsets.len(),
        }
    }

    /// Returns `true` if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory use of the values in bytes.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Fixed { bytes, .. } => bytes.capacity(),
            Self::Var { offsets, bytes } => bytes.capacity() + 8 * offsets.capacity(),
        }
    }
}

fn check(offsets: &[u64], len: u64, at: u64) -> Result<()> {
    let mut end = len;
    for (index, &start) in offsets.iter().enumerate().rev() {
        if start > end {
            let at = at.saturating_add(8 * index as u64);
            let error = DecodeError::invalid("value offset", at, start, "offsets that ascend within the values");
            return Err(error.inside(format!("tile {index}")));
        }
        end = start;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(fixed: &[u8], var: &[u8]) -> Vec<u8> {
        let mut writer = ByteWriter::new();
        writer.u64_list(&[fixed.len() as u64, var.len() as u64]);
        writer.bytes(fixed);
        writer.bytes(var);
        writer.into_bytes()
    }

    fn parse(bytes: &[u8], tiles: u64, shape: ValueShape) -> Result<TileValues> {
        let values = TileValues::parse(&mut ByteReader::new(bytes), tiles, shape)?;
        let mut writer = ByteWriter::new();
        values.write(&mut writer);
        assert_eq!(writer.as_slice(), bytes);
        Ok(values)
    }

    #[test]
    fn fixed() {
        let values = parse(&bytes(&[1, 2, 3, 4], &[]), 2, ValueShape::Fixed(2)).unwrap();
        assert_eq!([0, 1, 2].map(|tile| values.get(tile)), [Some(&[1, 2][..]), Some(&[3, 4]), None]);
        assert_eq!(values.len(), 2);
    }

    #[test]
    fn var() {
        let offsets: Vec<u8> = [0u64, 2, 2].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let values = parse(&bytes(&offsets, b"abcde"), 3, ValueShape::Var).unwrap();
        assert_eq!([0, 1, 2, 3].map(|tile| values.get(tile)), [Some(&b"ab"[..]), Some(b""), Some(b"cde"), None]);
    }

    #[test]
    fn absent() {
        assert_eq!(parse(&bytes(&[], &[]), 3, ValueShape::Var).unwrap(), TileValues::Absent);
        assert_eq!(parse(&bytes(&[], &[]), 0, ValueShape::Fixed(4)).unwrap().get(0), None);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(parse(&bytes(&[1, 2, 3], &[]), 2, ValueShape::Fixed(2)).is_err());
        assert!(parse(&bytes(&[1, 2, 3], &[]), 2, ValueShape::AnyFixed).is_err());
        assert!(parse(&bytes(&[1, 2], &[3]), 2, ValueShape::AnyFixed).is_err());
        assert!(parse(&bytes(&[1], &[]), 0, ValueShape::AnyFixed).is_err());
        assert!(parse(&bytes(&9u64.to_le_bytes(), b"abc"), 1, ValueShape::Var).is_err());
        assert!(parse(&bytes(&[], b"abc"), 1, ValueShape::Var).is_err());
        let huge = [u64::MAX.to_le_bytes(), 0u64.to_le_bytes()].concat();
        assert!(parse(&huge, u64::MAX, ValueShape::Fixed(1)).is_err());
    }
}

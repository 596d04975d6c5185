//! Stored ranges.

use std::ops::Bound;

use tdb_types::{ByteReader, ByteWriter, DecodeError};

use crate::{DimRange, DimensionKind};

const NOT_BACKWARDS: &str = "a range whose start is not above its end";

impl DimensionKind {
    /// Reads a stored range.
    pub(crate) fn read(self, reader: &mut ByteReader<'_>) -> Result<DimRange, DecodeError> {
        if self.var {
            let (lo, hi) = read_strings(reader)?;
            Ok(DimRange::strings(lo, hi))
        } else {
            let (lo, hi) = self.read_keys(reader)?;
            Ok(DimRange::Fixed { lo, hi })
        }
    }

    /// Reads the two coordinates of a range of a fixed-size type.
    pub(crate) fn read_keys(self, reader: &mut ByteReader<'_>) -> Result<(u64, u64), DecodeError> {
        let offset = reader.offset();
        let size = self.datatype.size();
        let bytes = reader.bytes("range", self.min_stored_len())?;
        let (lo, hi) = bytes.split_at(size.min(bytes.len()));
        let (lo, hi) = (tdb_types::ordered_key(self.physical(), lo), tdb_types::ordered_key(self.physical(), hi));
        reader.explain(|| format!("{} to {}", self.scalar(lo), self.scalar(hi)));
        if self.is_backwards(lo, hi) {
            return Err(self.backwards(offset, lo, hi));
        }
        Ok((lo, hi))
    }

    #[cold]
    pub(crate) fn backwards(self, offset: u64, lo: u64, hi: u64) -> DecodeError {
        let found = format!("{} to {}", self.scalar(lo), self.scalar(hi));
        DecodeError::invalid("range", offset, found, NOT_BACKWARDS)
    }

    /// Writes a range, the inverse of [`read`](Self::read). Returns `None` if the range does not
    /// match the dimension.
    pub(crate) fn write(self, range: &DimRange, writer: &mut ByteWriter) -> Option<()> {
        match range {
            DimRange::Fixed { lo, hi } if !self.var => {
                writer.bytes(&tdb_types::from_ordered_key(self.physical(), *lo));
                writer.bytes(&tdb_types::from_ordered_key(self.physical(), *hi));
            }
            DimRange::Var { lo, hi: Bound::Included(hi) } if self.var => write_strings(lo, hi, writer),
            _ => return None,
        }
        Some(())
    }
}

/// Reads a range of strings, stored as the total length, the length of the first string, and the
/// bytes of both strings.
pub(crate) fn read_strings<'a>(reader: &mut ByteReader<'a>) -> Result<(&'a [u8], &'a [u8]), DecodeError> {
    let total = reader.u64("range length")?;
    let offset = reader.offset();
    let start = reader.u64("range start length")?;
    let end = total
        .checked_sub(start)
        .ok_or_else(|| DecodeError::invalid("range start length", offset, start, "at most the length of the range"))?;
    let offset = reader.offset();
    let lo = reader.bytes("range start", start)?;
    let hi = reader.bytes("range end", end)?;
    if lo > hi {
        let found = format!("\"{}\" to \"{}\"", preview(lo), preview(hi));
        return Err(DecodeError::invalid("range", offset, found, NOT_BACKWARDS));
    }
    Ok((lo, hi))
}

pub(crate) fn write_strings(lo: &[u8], hi: &[u8], writer: &mut ByteWriter) {
    writer.u64(lo.len() as u64 + hi.len() as u64);
    writer.u64(lo.len() as u64);
    writer.bytes(lo);
    writer.bytes(hi);
}

/// Formats the first bytes of a string for a message.
fn preview(bytes: &[u8]) -> String {
    let shown = bytes.get(..32).unwrap_or(bytes);
    format!("{}{}", shown.escape_ascii(), if bytes.len() > 32 { "…" } else { "" })
}

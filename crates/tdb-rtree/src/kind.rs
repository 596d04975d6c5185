//! As much of a dimension as its ranges need.

use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, PhysicalType, Scalar};

use crate::DimRange;

/// The coordinates of a dimension: their datatype, and whether they are strings of variable length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimensionKind {
    /// The dimension's datatype.
    pub datatype: Datatype,
    /// Whether coordinates differ in length; they are then compared byte by byte, a prefix before what it begins.
    pub var: bool,
}

impl DimensionKind {
    /// A dimension whose coordinates are one value of `datatype`.
    #[must_use]
    pub const fn fixed(datatype: Datatype) -> Self {
        Self { datatype, var: false }
    }

    /// A dimension whose coordinates are strings of `datatype`.
    #[must_use]
    pub const fn var(datatype: Datatype) -> Self {
        Self { datatype, var: true }
    }

    /// How values of the datatype lie in memory.
    #[must_use]
    pub const fn physical(self) -> PhysicalType {
        self.datatype.physical()
    }

    /// Bytes of a stored range of this dimension: both coordinates, or the two lengths before them at least.
    pub(crate) const fn min_stored_len(self) -> u64 {
        if self.var { 16 } else { 2 * self.datatype.size() as u64 }
    }

    /// The largest [ordered key](tdb_types::ordered_key) of the type.
    pub(crate) const fn max_key(self) -> u64 {
        u64::MAX >> (64 - 8 * self.datatype.size())
    }

    /// Bounds in ordered keys, moved apart so far that they hold every coordinate a writer may have put between them:
    /// [both zeros](Self::widen_zeros), and everything if they [bound nothing](Self::bounds_nothing).
    #[inline]
    pub(crate) fn widen(self, lo: u64, hi: u64) -> (u64, u64) {
        if self.bounds_nothing(lo, hi) { (0, self.max_key()) } else { self.widen_zeros(lo, hi) }
    }

    /// Bounds in ordered keys, moved apart so that a bound which is one of the two floating-point zeros has the other
    /// inside: everyone who asks for a range, and every writer who stores one, takes the two as equal.
    #[inline]
    pub(crate) fn widen_zeros(self, lo: u64, hi: u64) -> (u64, u64) {
        if !self.physical().is_float() {
            return (lo, hi);
        }
        let negative_zero = self.max_key() >> 1;
        let positive_zero = negative_zero + 1;
        (if lo == positive_zero { negative_zero } else { lo }, if hi == negative_zero { positive_zero } else { hi })
    }

    /// Whether a stored range tells nothing: if a bound is NaN, because a writer's comparisons with NaN are always false; and
    /// a range of dates that ends before it begins, for the first writers of dates never computed any.
    #[inline]
    pub(crate) fn bounds_nothing(self, lo: u64, hi: u64) -> bool {
        self.is_nan(lo) || self.is_nan(hi) || self.is_uncomputed(lo, hi)
    }

    fn is_uncomputed(self, lo: u64, hi: u64) -> bool {
        lo > hi && self.datatype.is_datetime()
    }

    /// Whether the key is that of a NaN.
    #[inline]
    pub(crate) fn is_nan(self, key: u64) -> bool {
        // As many keys at each end of the type as the mantissa has values other than the infinities' zero.
        let nans: u64 = match self.physical() {
            PhysicalType::F32 => (1 << 23) - 1,
            PhysicalType::F64 => (1 << 52) - 1,
            _ => return false,
        };
        key < nans || key > self.max_key() - nans
    }

    /// Whether `lo` is above `hi` as values, so that `-0.0` is not below `0.0` and NaN not above anything; not if the range was
    /// never computed.
    pub(crate) fn is_backwards(self, lo: u64, hi: u64) -> bool {
        let above = !self.physical().is_float() || self.scalar(lo) > self.scalar(hi);
        lo > hi && above && !self.is_uncomputed(lo, hi)
    }

    pub(crate) fn scalar(self, key: u64) -> Scalar {
        Scalar::from_key(self.physical(), key)
    }

    /// What the coordinates are called in messages.
    pub(crate) const fn coordinates(self) -> &'static str {
        if self.var { "strings" } else { "fixed-size values" }
    }

    /// Reads one stored range.
    pub(crate) fn read(self, reader: &mut ByteReader<'_>) -> Result<DimRange, DecodeError> {
        if self.var {
            let (lo, hi) = read_strings(reader)?;
            Ok(DimRange::strings(lo, hi))
        } else {
            let (lo, hi) = self.read_keys(reader)?;
            Ok(DimRange::Fixed { lo, hi })
        }
    }

    /// Reads the two coordinates of a stored range of a fixed-size type.
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

    /// Writes what [`read`](Self::read) reads. `None`: the range doesn't suit the dimension.
    pub(crate) fn write(self, range: &DimRange, writer: &mut ByteWriter) -> Option<()> {
        match range {
            DimRange::Fixed { lo, hi } if !self.var => {
                writer.bytes(&tdb_types::from_ordered_key(self.physical(), *lo));
                writer.bytes(&tdb_types::from_ordered_key(self.physical(), *hi));
            }
            DimRange::Var { lo, hi: Some(hi) } if self.var => write_strings(lo, hi, writer),
            _ => return None,
        }
        Some(())
    }
}

const NOT_BACKWARDS: &str = "a range whose start is not above its end";

/// Reads a stored range of strings: the length of both together, the length of the first, and their bytes.
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

/// The first bytes of a string, for a message.
fn preview(bytes: &[u8]) -> String {
    let shown = bytes.get(..32).unwrap_or(bytes);
    format!("{}{}", shown.escape_ascii(), if bytes.len() > 32 { "…" } else { "" })
}

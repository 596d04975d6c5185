//! As much of a dimension as its ranges need.

use tdb_types::{Datatype, PhysicalType, Scalar};

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

    /// Whether a stored range says nothing: if a bound is NaN, because a writer's comparisons with NaN are always false; and
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
}

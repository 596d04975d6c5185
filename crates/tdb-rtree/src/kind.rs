//! Dimension properties relevant to ranges.

use tdb_types::{Datatype, PhysicalType, Scalar};

/// The datatype of a dimension's coordinates, and their kind, which is fixed size or strings of
/// variable length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DimensionKind {
    /// Datatype of the dimension.
    pub datatype: Datatype,
    /// `true` for strings of variable length. They are compared bytewise, with a prefix before
    /// longer strings.
    pub var: bool,
}

impl DimensionKind {
    /// Creates a dimension with a single value of `datatype` per coordinate.
    #[must_use]
    pub const fn fixed(datatype: Datatype) -> Self {
        Self { datatype, var: false }
    }

    /// Creates a dimension with strings of `datatype` as coordinates.
    #[must_use]
    pub const fn var(datatype: Datatype) -> Self {
        Self { datatype, var: true }
    }

    /// Returns the in-memory type of the datatype.
    #[must_use]
    pub const fn physical(self) -> PhysicalType {
        self.datatype.physical()
    }

    /// Returns the minimum size of a stored range, in bytes. A range consists of at least two
    /// coordinates, or of two lengths for strings.
    pub(crate) const fn min_stored_len(self) -> u64 {
        if self.var { 16 } else { 2 * self.datatype.size() as u64 }
    }

    /// Returns the maximum [ordered key](tdb_types::ordered_key) of the type.
    pub(crate) const fn max_key(self) -> u64 {
        u64::MAX >> (64 - 8 * self.datatype.size())
    }

    /// Widens bounds in ordered keys to contain every coordinate that a writer may have included.
    /// Covers [both zeros](Self::widen_zeros), and the entire type if the bounds are
    /// [meaningless](Self::bounds_nothing).
    #[inline]
    pub(crate) fn widen(self, lo: u64, hi: u64) -> (u64, u64) {
        if self.bounds_nothing(lo, hi) { (0, self.max_key()) } else { self.widen_zeros(lo, hi) }
    }

    /// Widens bounds in ordered keys so that a bound of `0.0` or `-0.0` includes both zeros.
    /// Queries and writers of stored ranges treat the two as equal.
    #[inline]
    #[must_use]
    pub fn widen_zeros(self, lo: u64, hi: u64) -> (u64, u64) {
        widen_zeros(self.physical(), lo, hi)
    }

    /// Returns `true` if a stored range is meaningless.
    ///
    /// A range with a NaN bound is meaningless, because a writer's comparisons with NaN are always
    /// false. A descending range of dates is also meaningless, because the first writers of dates
    /// never computed ranges.
    #[inline]
    pub(crate) fn bounds_nothing(self, lo: u64, hi: u64) -> bool {
        self.is_nan(lo) || self.is_nan(hi) || self.is_uncomputed(lo, hi)
    }

    fn is_uncomputed(self, lo: u64, hi: u64) -> bool {
        lo > hi && self.datatype.is_datetime()
    }

    /// Returns `true` if the key belongs to a NaN.
    #[inline]
    pub(crate) fn is_nan(self, key: u64) -> bool {
        // At each end of the type, all nonzero mantissas are NaNs. A mantissa of zero is the
        // infinity.
        let nans: u64 = match self.physical() {
            PhysicalType::F32 => (1 << 23) - 1,
            PhysicalType::F64 => (1 << 52) - 1,
            _ => return false,
        };
        key < nans || key > self.max_key() - nans
    }

    /// Returns `true` if the value of `lo` exceeds the value of `hi`. The two zeros are equal.
    /// Returns `false` for NaNs and for uncomputed ranges.
    pub(crate) fn is_backwards(self, lo: u64, hi: u64) -> bool {
        let above = !self.physical().is_float() || self.scalar(lo) > self.scalar(hi);
        lo > hi && above && !self.is_uncomputed(lo, hi)
    }

    pub(crate) fn scalar(self, key: u64) -> Scalar {
        Scalar::from_key(self.physical(), key)
    }

    /// Returns the name of the coordinates in messages.
    pub(crate) const fn coordinates(self) -> &'static str {
        if self.var { "strings" } else { "fixed-size values" }
    }
}

/// Widens bounds in ordered keys so that a bound of `0.0` or `-0.0` includes both zeros. Queries
/// and writers of stored ranges treat the two as equal.
#[inline]
pub(crate) fn widen_zeros(physical: PhysicalType, lo: u64, hi: u64) -> (u64, u64) {
    if !physical.is_float() {
        return (lo, hi);
    }
    let negative_zero = u64::MAX >> (65 - 8 * physical.size());
    let positive_zero = negative_zero + 1;
    (if lo == positive_zero { negative_zero } else { lo }, if hi == negative_zero { positive_zero } else { hi })
}

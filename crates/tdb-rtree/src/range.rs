//! One-dimensional ranges.

mod ends;
mod many;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use tdb_types::{Cells, Scalar};

use crate::kind::widen_zeros;
use crate::{DimensionKind, RTreeError, Result, end};

/// A range of coordinates in one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DimRange {
    /// Coordinates of a fixed-size type, as [ordered keys](tdb_types::ordered_key).
    Fixed {
        /// Key of the lowest coordinate.
        lo: u64,
        /// Key of the highest coordinate.
        hi: u64,
    },
    /// Strings in bytewise order, with a prefix before longer strings.
    Var {
        /// The lowest string.
        lo: Vec<u8>,
        /// The highest string, the first string after the range, or unbounded. Only inclusive ends
        /// can be stored.
        hi: Bound<Vec<u8>>,
    },
}

impl DimRange {
    /// Creates a range of all values from `lo` to `hi`. A bound of `0.0` or `-0.0` includes both
    /// zeros.
    ///
    /// The keys of the two zeros differ, but queries and writers of stored ranges treat the zeros
    /// as equal.
    ///
    /// # Errors
    /// Fails if the types differ, the lower bound exceeds the upper bound, or a bound is NaN.
    pub fn between(lo: Scalar, hi: Scalar) -> Result<Self> {
        if lo.physical() != hi.physical() {
            return Err(RTreeError::MixedTypes { lo: lo.physical(), hi: hi.physical() });
        }
        if !matches!(lo.partial_cmp(&hi), Some(Ordering::Less | Ordering::Equal)) {
            return Err(RTreeError::EmptyRange { lo, hi });
        }
        let (lo, hi) = widen_zeros(lo.physical(), lo.key(), hi.key());
        Ok(Self::Fixed { lo, hi })
    }

    /// Creates a range of all strings from `lo` to `hi`. The range is empty if `lo` exceeds `hi`.
    #[must_use]
    pub fn strings(lo: impl Into<Vec<u8>>, hi: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Included(hi.into()) }
    }

    /// Creates a range of all strings from `lo` on.
    #[must_use]
    pub fn strings_from(lo: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Unbounded }
    }

    /// Creates a range of all strings from `lo` on and before `end`. The range is empty unless `lo`
    /// is less than `end`.
    #[must_use]
    pub fn strings_before(lo: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Excluded(end.into()) }
    }

    /// Creates a range of all strings with a prefix.
    ///
    /// ```
    /// use tdb_rtree::DimRange;
    ///
    /// assert_eq!(DimRange::prefix("chr"), DimRange::strings_before("chr", "chs"));
    /// assert_eq!(DimRange::prefix([b'a', 255]), DimRange::strings_before([b'a', 255], "b"));
    /// assert_eq!(DimRange::prefix([255, 255]), DimRange::strings_from([255, 255]));
    /// ```
    #[must_use]
    pub fn prefix(prefix: impl Into<Vec<u8>>) -> Self {
        let lo = prefix.into();
        let hi = end::of_prefix(&lo);
        Self::Var { lo, hi }
    }

    /// Returns the range from the minimum to the maximum of these coordinates, or `None` without
    /// cells. If the zeros `0.0` and `-0.0` tie, the first zero counts. NaNs are ignored, unless
    /// the first coordinate is NaN: both bounds are then NaN.
    #[must_use]
    pub fn of_cells(cells: &Cells<'_>, kind: DimensionKind) -> Option<Self> {
        if kind.var {
            let mut strings = cells.var_cells();
            let first = strings.next()?;
            let (lo, hi) = strings.fold((first, first), |(lo, hi), string| (lo.min(string), hi.max(string)));
            return Some(Self::strings(lo, hi));
        }
        let [lo, hi] = ends::of_cells(kind.physical(), cells.bytes())?;
        Some(Self::Fixed { lo: lo.key(), hi: hi.key() })
    }

    /// Returns the range of all possible coordinates of this kind, including NaN.
    #[must_use]
    pub fn everything(kind: DimensionKind) -> Self {
        if kind.var { Self::strings_from("") } else { Self::Fixed { lo: 0, hi: kind.max_key() } }
    }

    /// Returns `true` if the range contains no coordinates.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Fixed { lo, hi } => lo > hi,
            Self::Var { lo, hi } => !end::reaches(end::borrow(hi), lo),
        }
    }

    /// Returns `true` if the range contains the coordinate with this ordered key. Always `false`
    /// for strings.
    #[must_use]
    pub fn contains_key(&self, key: u64) -> bool {
        matches!(self, Self::Fixed { lo, hi } if (*lo..=*hi).contains(&key))
    }

    /// Returns `true` if the range contains the string. Always `false` for fixed-size values.
    #[must_use]
    pub fn contains_string(&self, string: &[u8]) -> bool {
        match self {
            Self::Fixed { .. } => false,
            Self::Var { lo, hi } => lo.as_slice() <= string && end::reaches(end::borrow(hi), string),
        }
    }

    /// Returns `true` if the ranges have a common coordinate. Ranges of strings and numbers never
    /// intersect.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.intersection(other).is_some()
    }

    /// Returns `true` if this range contains every coordinate of `other`, which must not be empty.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fixed { lo, hi }, Self::Fixed { lo: other_lo, hi: other_hi }) => lo <= other_lo && other_hi <= hi,
            (Self::Var { lo, hi }, Self::Var { lo: other_lo, hi: other_hi }) => {
                lo <= other_lo && end::compare(end::borrow(other_hi), end::borrow(hi)).is_le()
            }
            _ => false,
        }
    }

    /// Returns the common coordinates, or `None` without common coordinates.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let both = match (self, other) {
            (Self::Fixed { lo, hi }, Self::Fixed { lo: other_lo, hi: other_hi }) => {
                Self::Fixed { lo: *lo.max(other_lo), hi: *hi.min(other_hi) }
            }
            (Self::Var { lo, hi }, Self::Var { lo: other_lo, hi: other_hi }) => {
                let first = end::compare(end::borrow(hi), end::borrow(other_hi)).is_le();
                Self::Var { lo: lo.max(other_lo).clone(), hi: if first { hi } else { other_hi }.clone() }
            }
            _ => return None,
        };
        (!both.is_empty()).then_some(both)
    }

    /// Extends the bounds to include `other`. Does nothing if one range is of strings and the other
    /// of numbers.
    pub fn expand(&mut self, other: &Self) {
        match (self, other) {
            (Self::Fixed { lo, hi }, Self::Fixed { lo: other_lo, hi: other_hi }) => {
                *lo = (*lo).min(*other_lo);
                *hi = (*hi).max(*other_hi);
            }
            (Self::Var { lo, hi }, Self::Var { lo: other_lo, hi: other_hi }) => {
                if other_lo < lo {
                    lo.clone_from(other_lo);
                }
                if end::compare(end::borrow(other_hi), end::borrow(hi)).is_gt() {
                    hi.clone_from(other_hi);
                }
            }
            _ => {}
        }
    }

    /// Formats the range as `[1, 4]`, `["a", "cc"]`, `["a", "b")` or `["a", …)`.
    #[must_use]
    pub fn display(&self, kind: DimensionKind) -> impl fmt::Display {
        struct Shown<'a>(&'a DimRange, DimensionKind);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    DimRange::Fixed { lo, hi } => write!(f, "[{}, {}]", self.1.scalar(*lo), self.1.scalar(*hi)),
                    DimRange::Var { lo, hi: Bound::Included(hi) } => {
                        write!(f, "[\"{}\", \"{}\"]", lo.escape_ascii(), hi.escape_ascii())
                    }
                    DimRange::Var { lo, hi: Bound::Excluded(hi) } => {
                        write!(f, "[\"{}\", \"{}\")", lo.escape_ascii(), hi.escape_ascii())
                    }
                    DimRange::Var { lo, hi: Bound::Unbounded } => write!(f, "[\"{}\", …)", lo.escape_ascii()),
                }
            }
        }
        Shown(self, kind)
    }

    /// Returns the name of the coordinates in messages.
    pub(crate) fn coordinates(&self) -> &'static str {
        match self {
            Self::Fixed { .. } => "fixed-size values",
            Self::Var { .. } => "strings",
        }
    }
}

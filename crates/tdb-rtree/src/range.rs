//! A range in one dimension.

mod ends;
mod many;

use std::cmp::Ordering;
use std::fmt;
use std::ops::Bound;

use tdb_types::{Cells, Scalar};

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
    /// Strings, in the order of their bytes, a prefix before what it begins.
    Var {
        /// The lowest string.
        lo: Vec<u8>,
        /// The highest string, or the first one behind the range; unbounded if every string from `lo` on is in the range. Only
        /// ranges that include their end can be stored, the others can be asked for.
        hi: Bound<Vec<u8>>,
    },
}

impl DimRange {
    /// All values from `lo` to `hi`, as people mean it: a bound that is `0.0` or `-0.0` takes both zeros in.
    ///
    /// (Ordered keys of the two zeros differ, while everyone who asks for a range, and every writer who stores the range
    /// of a tile, takes them as equal.)
    ///
    /// # Errors
    /// The bounds' types differ, the lower one is above the upper one, or one is NaN.
    pub fn between(lo: Scalar, hi: Scalar) -> Result<Self> {
        if lo.physical() != hi.physical() {
            return Err(RTreeError::MixedTypes { lo: lo.physical(), hi: hi.physical() });
        }
        if !matches!(lo.partial_cmp(&hi), Some(Ordering::Less | Ordering::Equal)) {
            return Err(RTreeError::EmptyRange { lo, hi });
        }
        // The smaller zero's key is one below the other's.
        let lo = if lo.to_f64() == 0.0 { lo.key().min(negated_zero(lo)) } else { lo.key() };
        let hi = if hi.to_f64() == 0.0 { hi.key().max(negated_zero(hi)) } else { hi.key() };
        Ok(Self::Fixed { lo, hi })
    }

    /// All strings from `lo` to `hi`; none if `lo` is above `hi`.
    #[must_use]
    pub fn strings(lo: impl Into<Vec<u8>>, hi: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Included(hi.into()) }
    }

    /// All strings from `lo` on.
    #[must_use]
    pub fn strings_from(lo: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Unbounded }
    }

    /// All strings from `lo` on that come before `end`; none if `lo` doesn't.
    #[must_use]
    pub fn strings_before(lo: impl Into<Vec<u8>>, end: impl Into<Vec<u8>>) -> Self {
        Self::Var { lo: lo.into(), hi: Bound::Excluded(end.into()) }
    }

    /// All strings that begin with `prefix`.
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

    /// The least and the greatest of these coordinates; none if there are none. Of two zeros the first one met.
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

    /// Every coordinate that a dimension of this kind can have, NaN too.
    #[must_use]
    pub fn everything(kind: DimensionKind) -> Self {
        if kind.var { Self::strings_from("") } else { Self::Fixed { lo: 0, hi: kind.max_key() } }
    }

    /// Whether no coordinate is in the range, because its end is below its start.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Fixed { lo, hi } => lo > hi,
            Self::Var { lo, hi } => !end::reaches(end::borrow(hi), lo),
        }
    }

    /// Whether the coordinate with this ordered key is in the range; none is in a range of strings.
    #[must_use]
    pub fn contains_key(&self, key: u64) -> bool {
        matches!(self, Self::Fixed { lo, hi } if (*lo..=*hi).contains(&key))
    }

    /// Whether the string is in the range; none is in a range of fixed-size values.
    #[must_use]
    pub fn contains_string(&self, string: &[u8]) -> bool {
        match self {
            Self::Fixed { .. } => false,
            Self::Var { lo, hi } => lo.as_slice() <= string && end::reaches(end::borrow(hi), string),
        }
    }

    /// Whether some coordinate is in both ranges. A range of strings and one of numbers share nothing.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.intersection(other).is_some()
    }

    /// Whether every coordinate of `other` is in this range.
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

    /// The coordinates that are in both ranges; none if there are none.
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

    /// Moves the bounds apart until `other` is in the range. A range of another kind changes nothing.
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

    /// The range as people write it, `[1, 4]`, `["a", "cc"]` or `["a", "b")`, for a dimension of this kind.
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

    /// What the range's coordinates are called in messages.
    pub(crate) fn coordinates(&self) -> &'static str {
        match self {
            Self::Fixed { .. } => "fixed-size values",
            Self::Var { .. } => "strings",
        }
    }
}

/// The key of the other zero of the scalar's type; integers have one zero only.
fn negated_zero(zero: Scalar) -> u64 {
    match zero {
        Scalar::F32(zero) => Scalar::F32(-zero).key(),
        Scalar::F64(zero) => Scalar::F64(-zero).key(),
        other => other.key(),
    }
}

//! The reliability of statistics.

use std::fmt;

/// A statistic of a tile or of the fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic<T> {
    /// No value, because the field has no such statistic or all cells are null.
    Absent,
    /// A reliable value.
    Present(T),
    /// A value that may be wrong.
    Untrustworthy(T, UntrustedReason),
}

impl<T> Statistic<T> {
    /// Returns the value if it is reliable, else `None`.
    #[must_use]
    pub fn trusted(self) -> Option<T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// Returns a minimum or maximum if it bounds all cells, else `None`. The bound is not
    /// necessarily the value of a cell.
    #[must_use]
    pub fn bound(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, UntrustedReason::EdgeTile) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// Returns the stored value, reliable or not, or `None` if absent.
    #[must_use]
    pub fn stored(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, _) => Some(value),
            Self::Absent => None,
        }
    }

    /// Converts the value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Statistic<U> {
        match self {
            Self::Absent => Statistic::Absent,
            Self::Present(value) => Statistic::Present(change(value)),
            Self::Untrustworthy(value, why) => Statistic::Untrustworthy(change(value), why),
        }
    }

    pub(super) fn new(value: T, distrust: Option<UntrustedReason>) -> Self {
        match distrust {
            Some(distrust) => Self::Untrustworthy(value, distrust),
            None => Self::Present(value),
        }
    }
}

/// The reason why a statistic may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UntrustedReason {
    /// The slot of `__coords` is filled with zeros.
    NeverFilled,
    /// Before format 21, statistics of fixed-size strings were not computed, or included nulls as
    /// values.
    FixedStringsBefore21,
    /// The totals of nullable fixed-size strings mix up the tiles that follow a tile with only
    /// nulls.
    NullableStringTotals,
    /// In dense fragments, the null counts of some fields are wrong if a tile was written in
    /// several slabs. This affects fields of variable size, and fields without a minimum and
    /// maximum.
    DenseNullable,
    /// Nulls are not counted for variable-size fields without minimum and maximum, and for wide
    /// strings. Before format 21, nulls of other fields without minimum and maximum are not always
    /// counted.
    NeverCounted,
    /// In dense fragments with several tiles, but fewer tiles than attributes, the minimums and
    /// maximums of variable-size fields belong to other tiles. The reference library overwrites all
    /// values except the last.
    DenseVarTiles,
    /// A NaN replaces the minimum and maximum found before. The sum is NaN, or cannot rule out a
    /// NaN.
    MayHideNan,
    /// Strings were compared only up to the first NUL.
    ComparedUpToNul,
    /// The sum overflowed and is at the end of its range, or may have been there temporarily.
    Saturated,
    /// The dense tile is partly outside of the fragment's non-empty domain. Consolidation also
    /// counts the cells outside. Before format 16, all writers counted these cells.
    EdgeTile,
    /// The value is impossible: more nulls than cells, or a value of the wrong size.
    Impossible,
}

impl fmt::Display for UntrustedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverFilled => "never filled",
            Self::FixedStringsBefore21 => "fixed-size strings before format 21",
            Self::NullableStringTotals => "totals of nullable strings",
            Self::DenseNullable => "nulls of a dense fragment",
            Self::NeverCounted => "never counted",
            Self::DenseVarTiles => "of another tile",
            Self::MayHideNan => "may hide a NaN",
            Self::ComparedUpToNul => "compared up to NUL",
            Self::Saturated => "saturated",
            Self::EdgeTile => "edge tile",
            Self::Impossible => "impossible",
        })
    }
}

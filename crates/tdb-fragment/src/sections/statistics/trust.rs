//! How far a statistic can be relied on.

use std::fmt;

/// What the metadata says about some cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic<T> {
    /// Nothing: the format computes none for the field, or all the cells are null.
    Absent,
    /// A value that can be relied on.
    Present(T),
    /// A value that may be wrong.
    Untrustworthy(T, Distrust),
}

impl<T> Statistic<T> {
    /// The value, if it can be relied on.
    #[must_use]
    pub fn trusted(self) -> Option<T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// For a least or greatest value: one beyond which none of the cells lies, although none may lie at it either.
    #[must_use]
    pub fn bound(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, Distrust::EdgeTile) => Some(value),
            Self::Absent | Self::Untrustworthy(..) => None,
        }
    }

    /// The value as stored, whether it can be relied on or not.
    #[must_use]
    pub fn stored(self) -> Option<T> {
        match self {
            Self::Present(value) | Self::Untrustworthy(value, _) => Some(value),
            Self::Absent => None,
        }
    }

    /// The same, with another value.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Statistic<U> {
        match self {
            Self::Absent => Statistic::Absent,
            Self::Present(value) => Statistic::Present(change(value)),
            Self::Untrustworthy(value, why) => Statistic::Untrustworthy(change(value), why),
        }
    }

    pub(super) fn new(value: T, distrust: Option<Distrust>) -> Self {
        match distrust {
            Some(distrust) => Self::Untrustworthy(value, distrust),
            None => Self::Present(value),
        }
    }
}

/// Why a statistic may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Distrust {
    /// The place of `__coords` in the lists is filled with zeros.
    NeverFilled,
    /// Before format 21, statistics of fixed-size strings were not computed, or took nulls for values.
    FixedStringsBefore21,
    /// The totals of nullable fixed-size strings mix up tiles once a tile is all null.
    NullableStringTotals,
    /// In dense fragments, validity is counted wrongly for fields of variable size and for those without least and
    /// greatest value, when a tile was written in several slabs.
    DenseNullable,
    /// Nulls are not counted for variable-size fields without least and greatest value, nor for wide strings; before
    /// format 21, not always for other fields without least and greatest value.
    NeverCounted,
    /// In dense fragments with fewer tiles than attributes, the values of variable-size fields are those of other tiles:
    /// all but the last were overwritten.
    DenseVarTiles,
    /// A NaN among the values takes the place of the least and greatest value met before it; the sum shows that there is
    /// one, or can't show it.
    MayHideNan,
    /// Strings were compared up to the first NUL only.
    ComparedUpToNul,
    /// The sum left the range of its type and stopped there, or may have done so before it came back.
    Saturated,
    /// Part of a dense tile lies outside the fragment's non-empty domain. Consolidation counts those cells as well, and
    /// before format 16 everyone did.
    EdgeTile,
    /// The value can't be: more nulls than cells, a value of another size than the field's.
    Impossible,
}

impl fmt::Display for Distrust {
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

//! Multi-dimensional ranges.

use std::fmt;
use std::ops::Bound;

use tdb_types::{ByteReader, ByteWriter, DecodeError};

use crate::{DimRange, DimensionKind, RTreeError, Result};

/// A range in each dimension: an MBR, a non-empty domain or a current domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NdRange(pub Vec<DimRange>);

impl NdRange {
    /// Reads a stored range for each dimension.
    ///
    /// A range of a fixed-size type consists of two coordinates. A range of strings consists of the
    /// `u64` total length, the `u64` length of the first string, and the bytes of both strings.
    ///
    /// # Errors
    /// Fails if the bytes are truncated, the first string is longer than the total length, or a
    /// start exceeds its end.
    pub fn parse(reader: &mut ByteReader<'_>, kinds: &[DimensionKind]) -> Result<Self, DecodeError> {
        let range = |(dimension, kind): (usize, &DimensionKind)| {
            reader.group(|| format!("dimension {dimension}"), |reader| kind.read(reader))
        };
        kinds.iter().enumerate().map(range).collect::<Result<_, _>>().map(Self)
    }

    /// Writes the ranges, the inverse of [`parse`](Self::parse).
    ///
    /// # Errors
    /// Fails without writing if the ranges do not match the dimensions, or a range has no inclusive
    /// end.
    pub fn write(&self, writer: &mut ByteWriter, kinds: &[DimensionKind]) -> Result<()> {
        self.check(kinds)?;
        for (range, kind) in self.0.iter().zip(kinds) {
            // `check` has rejected all invalid ranges.
            let _ = kind.write(range, writer);
        }
        Ok(())
    }

    /// Checks that each dimension has a range of its kind, with an inclusive end.
    pub(crate) fn check(&self, kinds: &[DimensionKind]) -> Result<()> {
        if self.0.len() != kinds.len() {
            return Err(RTreeError::DimensionCount { found: self.0.len(), expected: kinds.len() });
        }
        for (dimension, (range, kind)) in self.0.iter().zip(kinds).enumerate() {
            check_kind(dimension, range, *kind)?;
            if matches!(range, DimRange::Var { hi: Bound::Unbounded | Bound::Excluded(_), .. }) {
                return Err(RTreeError::Unbounded { dimension });
            }
        }
        Ok(())
    }

    /// Returns `true` if the ranges have a common cell. Ranges with different numbers of dimensions
    /// do not intersect.
    ///
    /// For the stored range of a fragment, use the [`widened`](Self::widened) form.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.intersects(b))
    }

    /// Returns `true` if this range contains every cell of `other`, which must not be empty.
    /// Returns `false` if the numbers of dimensions differ.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.contains(b))
    }

    /// Returns the common cells, or `None` if the ranges do not [intersect](Self::intersects).
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        if self.0.len() != other.0.len() {
            return None;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a.intersection(b)).collect::<Option<_>>().map(Self)
    }

    /// Extends the bounds to include `other`.
    pub fn expand(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.expand(other);
        }
    }

    /// Widens a stored range to contain every cell that a writer may have included.
    ///
    /// A bound of `0.0` or `-0.0` includes both zeros. A dimension with a NaN bound becomes
    /// unbounded, because writers compare according to IEEE 754. A descending range of dates
    /// becomes unbounded too, because its writer did not compute the range. Use this form to decide
    /// if a stored range is relevant to a query.
    #[must_use]
    pub fn widened(&self, kinds: &[DimensionKind]) -> Self {
        let widen = |(range, kind): (&DimRange, &DimensionKind)| match range {
            DimRange::Fixed { lo, hi } => {
                let (lo, hi) = kind.widen(*lo, *hi);
                DimRange::Fixed { lo, hi }
            }
            DimRange::Var { .. } => range.clone(),
        };
        Self(self.0.iter().zip(kinds).map(widen).collect())
    }

    /// Formats the range as `[1, 4] × ["a", "cc"]`.
    #[must_use]
    pub fn display(&self, kinds: &[DimensionKind]) -> impl fmt::Display {
        struct Shown<'r, 'k>(&'r NdRange, &'k [DimensionKind]);
        impl fmt::Display for Shown<'_, '_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for (dimension, (range, kind)) in self.0.0.iter().zip(self.1).enumerate() {
                    let between = if dimension == 0 { "" } else { " × " };
                    write!(f, "{between}{}", range.display(*kind))?;
                }
                Ok(())
            }
        }
        Shown(self, kinds)
    }
}

/// Checks that a range has the kind of its dimension.
pub(crate) fn check_kind(dimension: usize, range: &DimRange, kind: DimensionKind) -> Result<()> {
    if matches!(range, DimRange::Var { .. }) == kind.var {
        Ok(())
    } else {
        Err(RTreeError::RangeKind { dimension, found: range.coordinates(), expected: kind.coordinates() })
    }
}

//! A range in each dimension.

use std::fmt;
use std::ops::Bound;

use tdb_types::{ByteReader, ByteWriter, DecodeError};

use crate::{DimRange, DimensionKind, RTreeError, Result};

/// A range in each dimension: an MBR, a non-empty domain, a current domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NdRange(pub Vec<DimRange>);

impl NdRange {
    /// Reads a stored range of each dimension in turn: the two coordinates of a fixed-size type; for strings the `u64`
    /// length of both together, the `u64` length of the first, and their bytes.
    ///
    /// # Errors
    /// Truncated, a start that is longer than its range, or a range whose start is above its end.
    pub fn parse(reader: &mut ByteReader<'_>, kinds: &[DimensionKind]) -> Result<Self, DecodeError> {
        let mut ranges = Vec::with_capacity(kinds.len());
        for (dimension, kind) in kinds.iter().enumerate() {
            ranges.push(reader.group(|| format!("dimension {dimension}"), |reader| kind.read(reader))?);
        }
        Ok(Self(ranges))
    }

    /// Writes what [`parse`](Self::parse) reads.
    ///
    /// # Errors
    /// The ranges don't suit the dimensions, or one doesn't include its end. Then nothing is written.
    pub fn write(&self, writer: &mut ByteWriter, kinds: &[DimensionKind]) -> Result<()> {
        self.check(kinds)?;
        for (range, kind) in self.0.iter().zip(kinds) {
            // Everything that could be refused has been.
            let _ = kind.write(range, writer);
        }
        Ok(())
    }

    /// Checks that there is one range that includes its end for each dimension, of the dimension's kind.
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

    /// Whether some cell could be in both. Ranges of different dimensions share nothing.
    ///
    /// Where this is the stored range of a fragment, ask its [`widened`](Self::widened) form.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.intersects(b))
    }

    /// Whether every cell of `other` is in this range.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a.contains(b))
    }

    /// The cells in both; none if there are none.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        if self.0.len() != other.0.len() {
            return None;
        }
        self.0.iter().zip(&other.0).map(|(a, b)| a.intersection(b)).collect::<Option<_>>().map(Self)
    }

    /// Moves the bounds apart until `other` is inside.
    pub fn expand(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            own.expand(other);
        }
    }

    /// The range that holds every cell which a writer may have counted into this stored one: a bound that is one of the
    /// two floating-point zeros takes in the other, and a dimension with a bound that is NaN is unbounded, because
    /// writers compare as IEEE 754 says. Whether a stored range matters to a query is a question for this form.
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

    /// The range as people write it: `[1, 4] × ["a", "cc"]`.
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

/// Checks that a range suits its dimension.
pub(crate) fn check_kind(dimension: usize, range: &DimRange, kind: DimensionKind) -> Result<()> {
    if matches!(range, DimRange::Var { .. }) == kind.var {
        Ok(())
    } else {
        Err(RTreeError::RangeKind { dimension, found: range.coordinates(), expected: kind.coordinates() })
    }
}

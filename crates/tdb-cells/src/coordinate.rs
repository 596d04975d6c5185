//! Coordinates in query ranges, and conversion to a dimension's type.

use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};

use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, Dimension};
use tdb_types::{PhysicalType, Scalar, with_physical};

use crate::{CellsError, Result};

/// An end of a query range as given by a caller. The query converts the end to the dimension's type
/// when the range is set.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Coordinate {
    /// For integer, date and time dimensions. Float dimensions round the integer. A date counts
    /// units of the dimension since 1970-01-01.
    Integer(i128),
    /// For float dimensions.
    Float(f64),
    /// For string dimensions.
    Bytes(Vec<u8>),
}

macro_rules! from {
    ($($type:ty => $variant:ident, $convert:expr;)*) => {$(
        impl From<$type> for Coordinate {
            fn from(value: $type) -> Self {
                Self::$variant($convert(value))
            }
        }
    )*};
}

from! {
    i8 => Integer, i128::from;
    u8 => Integer, i128::from;
    i16 => Integer, i128::from;
    u16 => Integer, i128::from;
    i32 => Integer, i128::from;
    u32 => Integer, i128::from;
    i64 => Integer, i128::from;
    u64 => Integer, i128::from;
    f32 => Float, f64::from;
    f64 => Float, |value| value;
    &str => Bytes, |value: &str| value.as_bytes().to_vec();
    String => Bytes, String::into_bytes;
    &[u8] => Bytes, <[u8]>::to_vec;
    Vec<u8> => Bytes, |value| value;
}

impl From<Scalar> for Coordinate {
    fn from(value: Scalar) -> Self {
        value.to_integer().map_or_else(|| Self::Float(value.to_f64()), Self::Integer)
    }
}

impl Coordinate {
    /// Returns the first and last coordinate of `region` for each dimension. `region` is a
    /// non-empty domain, a current domain or an MBR. It has a range of [ordered
    /// keys](tdb_types::ordered_key) for each dimension of the schema.
    ///
    /// For a string range without end, the returned end consists of bytes 0xff and is a byte longer
    /// than the start. An excluded end is returned as if it were included.
    #[must_use]
    pub fn of_box(schema: &ArraySchema, region: &NdRange) -> Vec<RangeInclusive<Self>> {
        let ranges = schema.dimensions().iter().zip(&region.0);
        ranges.map(|(dimension, range)| Self::of_range(dimension, range)).collect()
    }

    fn of_range(dimension: &Dimension, range: &DimRange) -> RangeInclusive<Self> {
        match range {
            DimRange::Fixed { lo, hi } => {
                let [lo, hi] = [lo, hi].map(|key| Scalar::from_key(dimension.physical(), *key));
                lo.into()..=hi.into()
            }
            DimRange::Var { lo, hi } => {
                let hi = match hi {
                    Bound::Included(hi) | Bound::Excluded(hi) => hi.clone(),
                    Bound::Unbounded => vec![u8::MAX; lo.len() + 1],
                };
                Self::Bytes(lo.clone())..=Self::Bytes(hi)
            }
        }
    }
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Bytes(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
        }
    }
}

/// A query range as given by the caller, with bounds as in Rust's ranges.
#[derive(Clone, Debug)]
pub struct Given {
    /// The start of the range.
    pub start: Bound<Coordinate>,
    /// The end of the range.
    pub end: Bound<Coordinate>,
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.start {
            Bound::Included(start) => write!(f, "{start}..")?,
            Bound::Excluded(start) => write!(f, "(after {start})..")?,
            Bound::Unbounded => write!(f, "..")?,
        }
        match &self.end {
            Bound::Included(end) => write!(f, "={end}"),
            Bound::Excluded(end) => write!(f, "{end}"),
            Bound::Unbounded => Ok(()),
        }
    }
}

impl Given {
    /// Creates a range from a Rust range of any coordinate type.
    pub fn of<C: Into<Coordinate> + Clone>(range: &impl RangeBounds<C>) -> Self {
        Self { start: range.start_bound().cloned().map(Into::into), end: range.end_bound().cloned().map(Into::into) }
    }

    /// Returns the ends of the range of all strings with a prefix.
    pub fn prefix(prefix: &[u8]) -> (Bound<Coordinate>, Bound<Coordinate>) {
        let end = match DimRange::prefix(prefix) {
            DimRange::Var { hi, .. } => hi.map(Coordinate::Bytes),
            DimRange::Fixed { .. } => Bound::Unbounded,
        };
        (Bound::Included(prefix.into()), end)
    }

    /// Converts the range to the type of the dimension. `limits` is the current domain if set, or
    /// else the domain, in keys. A range of numbers must be within `limits`. The ends of `limits`
    /// replace open ends. Strings may be outside of `limits`.
    ///
    /// # Errors
    /// [`CellsError::Range`] if an end is of the wrong type, or the range is empty or exceeds
    /// `limits`.
    pub fn on(&self, dimension: &Dimension, limits: &DimRange) -> Result<DimRange> {
        match limits {
            DimRange::Var { .. } => self.on_strings(dimension),
            DimRange::Fixed { lo, hi } => {
                let physical = dimension.datatype().physical();
                let start = self.key(dimension, physical, &self.start, *lo)?;
                let end = self.key(dimension, physical, &self.end, *hi)?;
                if start > end {
                    return Err(self.error(dimension, "the range is empty or its bounds are reversed".to_owned()));
                }
                if start < *lo || end > *hi {
                    let (lo, hi) = (Scalar::from_key(physical, *lo), Scalar::from_key(physical, *hi));
                    return Err(self.error(dimension, format!("outside the domain {lo}..={hi}")));
                }
                Ok(DimRange::Fixed { lo: start, hi: end })
            }
        }
    }

    fn on_strings(&self, dimension: &Dimension) -> Result<DimRange> {
        let bytes = |coordinate: &Coordinate| match coordinate {
            Coordinate::Bytes(bytes) => Ok(bytes.clone()),
            other => Err(self.error(dimension, format!("{other} is not a string"))),
        };
        let lo = match &self.start {
            Bound::Unbounded => Vec::new(),
            Bound::Included(start) => bytes(start)?,
            // The next string in byte order.
            Bound::Excluded(start) => [&bytes(start)?[..], &[0]].concat(),
        };
        let hi = match &self.end {
            Bound::Unbounded => Bound::Unbounded,
            Bound::Included(end) => Bound::Included(bytes(end)?),
            Bound::Excluded(end) => Bound::Excluded(bytes(end)?),
        };
        let range = DimRange::Var { lo, hi };
        if range.is_empty() {
            return Err(self.error(dimension, "the range is empty or its bounds are reversed".to_owned()));
        }
        Ok(range)
    }

    /// Returns the key of an end, or `open` for an open end.
    fn key(&self, dimension: &Dimension, physical: PhysicalType, end: &Bound<Coordinate>, open: u64) -> Result<u64> {
        let is_end = std::ptr::eq(end, &self.end);
        let (coordinate, exclusive) = match end {
            Bound::Unbounded => return Ok(open),
            Bound::Included(coordinate) => (coordinate, false),
            Bound::Excluded(coordinate) => (coordinate, true),
        };
        let scalar = scalar_of(physical, coordinate).ok_or_else(|| {
            self.error(dimension, format!("{coordinate} is not a valid {} coordinate", dimension.datatype()))
        })?;
        // Zeros of both signs are equal, but have different, adjacent keys. An inclusive bound of
        // zero includes both zeros. An exclusive bound of zero excludes both.
        let key = match (scalar, is_end != exclusive) {
            (Scalar::F32(0.0), false) => Scalar::F32(-0.0).key(),
            (Scalar::F32(0.0), true) => Scalar::F32(0.0).key(),
            (Scalar::F64(0.0), false) => Scalar::F64(-0.0).key(),
            (Scalar::F64(0.0), true) => Scalar::F64(0.0).key(),
            (scalar, _) => scalar.key(),
        };
        match (exclusive, is_end) {
            (false, _) => Some(key),
            (true, true) => key.checked_sub(1),
            (true, false) => key.checked_add(1),
        }
        .ok_or_else(|| self.error(dimension, "the range is empty".to_owned()))
    }

    fn error(&self, dimension: &Dimension, why: String) -> CellsError {
        CellsError::Range { dimension: dimension.name().to_owned(), range: self.to_string(), why }
    }
}

/// Returns the index of the dimension called `name`.
///
/// # Errors
/// [`CellsError::UnknownDimension`] if the schema has no such dimension.
pub fn dimension_index(schema: &ArraySchema, name: &str) -> Result<usize> {
    let dimensions = schema.dimensions();
    dimensions.iter().position(|known| known.name() == name).ok_or_else(|| {
        let known = dimensions.iter().map(|known| known.name().to_owned()).collect();
        CellsError::UnknownDimension { name: name.to_owned(), known }
    })
}

/// Returns the index of the dimension, and the range converted to the type of the dimension.
///
/// # Errors
/// [`CellsError::UnknownDimension`], or [`CellsError::Range`] as in [`Given::on`].
pub fn range_on<C: Into<Coordinate> + Clone>(
    schema: &ArraySchema,
    dimension: &str,
    range: &impl RangeBounds<C>,
) -> Result<(usize, DimRange)> {
    let index = dimension_index(schema, dimension)?;
    Ok((index, Given::of(range).on(&schema.dimensions()[index], &schema.limits(index))?))
}

/// Converts the coordinate to a value of the type. Rounds numbers to float types. Returns `None`
/// for a string, a NaN, a float for an integer type, or an integer outside of the type.
pub fn scalar_of(physical: PhysicalType, coordinate: &Coordinate) -> Option<Scalar> {
    Some(match (physical, coordinate) {
        (_, Coordinate::Bytes(_)) => return None,
        (PhysicalType::F64, Coordinate::Float(value)) if !value.is_nan() => Scalar::F64(*value),
        (PhysicalType::F32, Coordinate::Float(value)) if !value.is_nan() => {
            #[allow(clippy::cast_possible_truncation)] // rounds to the dimension's precision
            let rounded = *value as f32;
            Scalar::F32(rounded)
        }
        #[allow(clippy::cast_precision_loss)] // rounds like a float literal
        (PhysicalType::F64, Coordinate::Integer(value)) => Scalar::F64(*value as f64),
        #[allow(clippy::cast_precision_loss)]
        (PhysicalType::F32, Coordinate::Integer(value)) => Scalar::F32(*value as f32),
        (_, Coordinate::Float(_)) => return None,
        (_, Coordinate::Integer(value)) => {
            with_physical!(physical, T => T::try_from(*value).ok()?.into(), _ => return None)
        }
    })
}

//! The cells of an array to export.

use std::ops::Range;

use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::Dimension;
use tdb_array::tdb_types::Scalar;
use tdb_array::{Array, ArrayError, CellsError, Coordinate, Query};

use super::Export;
use crate::error::{Error, Result};

/// A subarray, and the coordinates of its first cell.
#[derive(Debug)]
pub(super) struct Region {
    /// Ordered keys of the first and last coordinates.
    keys: Vec<(u64, u64)>,
    pub(super) origin: Vec<i128>,
    pub(super) shape: Vec<u64>,
}

impl Region {
    /// Creates the region from the ranges of an export.
    ///
    /// # Errors
    /// A range is invalid, or the subarray is too long.
    pub(super) fn new(export: &Export, array: &Array) -> Result<Self> {
        let schema = array.schema();
        for (name, _) in &export.ranges {
            if !schema.dimensions().iter().any(|dimension| dimension.name() == name) {
                let known = schema.dimensions().iter().map(|dimension| dimension.name().to_owned()).collect();
                return Err(ArrayError::Cells(CellsError::UnknownDimension { name: name.clone(), known }).into());
            }
        }
        let (mut keys, mut origin, mut shape) = (Vec::new(), Vec::new(), Vec::new());
        for (index, dimension) in schema.dimensions().iter().enumerate() {
            let refused = |why: &str| Error::refused(format!("dimension {:?}", dimension.name()), why);
            let DimRange::Fixed { mut lo, mut hi } = schema.limits(index) else {
                return Err(refused("its coordinates are strings"));
            };
            for (_, range) in export.ranges.iter().filter(|(name, _)| name == dimension.name()) {
                let [start, end] = [range.start(), range.end()].map(|end| key(dimension, end));
                let wrong = |why: &str| {
                    ArrayError::Cells(CellsError::Range {
                        dimension: dimension.name().to_owned(),
                        range: format!("{}..={}", range.start(), range.end()),
                        why: why.to_owned(),
                    })
                };
                let (Some(start), Some(end)) = (start, end) else {
                    return Err(wrong("the range has another type than the dimension").into());
                };
                if start < lo || end > hi {
                    return Err(wrong("the range is outside of the domain or of another range").into());
                }
                if start > end {
                    return Err(wrong("the range is empty or reversed").into());
                }
                (lo, hi) = (start, end);
            }
            let first = Scalar::from_key(dimension.physical(), lo).to_integer();
            origin.push(first.ok_or_else(|| refused("its coordinates are not integers"))?);
            // Zarr readers support lengths up to the maximum of `i64`.
            let len = (hi - lo).checked_add(1).filter(|len| i64::try_from(*len).is_ok());
            shape.push(len.ok_or_else(|| refused("too long for Zarr readers; export a range"))?);
            keys.push((lo, hi));
        }
        Ok(Self { keys, origin, shape })
    }

    /// Intersects with other ranges. Returns the cells relative to the first one. Returns `None` if
    /// the intersection is empty.
    pub(super) fn cells_in(&self, other: &NdRange) -> Option<Vec<Range<u64>>> {
        let sides = self.keys.iter().zip(&other.0).map(|((lo, hi), range)| match range {
            DimRange::Fixed { lo: start, hi: end } => {
                let (start, end) = (start.max(lo), end.min(hi));
                (start <= end).then(|| start - lo..end - lo + 1)
            }
            DimRange::Var { .. } => None,
        });
        sides.collect()
    }

    /// Creates a query of cells, in Zarr's order.
    pub(super) fn query(&self, array: &Array, cells: &[Range<u64>]) -> Result<Query> {
        let mut query = array.read();
        for (dimension, range) in array.schema().dimensions().iter().zip(self.coordinates(cells)) {
            query = query.range(dimension.name(), Coordinate::Integer(range.0)..=Coordinate::Integer(range.1))?;
        }
        Ok(query.order(tdb_array::Order::RowMajor))
    }

    /// Returns the first and last coordinates of cells.
    fn coordinates(&self, cells: &[Range<u64>]) -> Vec<(i128, i128)> {
        let ends = |(origin, range): (&i128, &Range<u64>)| {
            (origin + i128::from(range.start), origin + i128::from(range.end) - 1)
        };
        self.origin.iter().zip(cells).map(ends).collect()
    }

    /// Returns the coordinates of the first cell.
    pub(super) fn first_of(&self, cells: &[Range<u64>]) -> Vec<i128> {
        self.coordinates(cells).into_iter().map(|(first, _)| first).collect()
    }
}

/// Returns the ordered key of a coordinate. Returns `None` if the dimension's type lacks the value.
fn key(dimension: &Dimension, coordinate: &Coordinate) -> Option<u64> {
    let Coordinate::Integer(value) = coordinate else { return None };
    Scalar::parse(dimension.physical(), &value.to_string()).map(Scalar::key)
}

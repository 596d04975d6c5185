//! Selections of points and boxes.

use std::ops::{Bound, RangeBounds};

use tdb_cells::{CellsError, Coordinate, Given, WriteBatch, check_column, dimension_index};
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, Dimension, FieldRef};
use tdb_snapshot::Result;
use tdb_types::{PhysicalType, Scalar, ordered_keys};

/// A box of coordinates for [`Query::boxes`](crate::Query::boxes). On dimensions without a range,
/// the box spans all coordinates.
///
/// ```
/// use tdb_array::QueryBox;
///
/// let region = QueryBox::new().range("row", 10..20).range("column", ..=5).prefix("name", "chr");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct QueryBox {
    ranges: Vec<(String, Bound<Coordinate>, Bound<Coordinate>)>,
}

impl QueryBox {
    /// Creates a box of all cells.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts the box to a range on a dimension. See [`Query::range`](crate::Query::range).
    /// Several ranges on the same dimension intersect.
    pub fn range<C: Into<Coordinate> + Clone>(mut self, dimension: &str, range: impl RangeBounds<C>) -> Self {
        let Given { start, end } = Given::of(&range);
        self.ranges.push((dimension.to_owned(), start, end));
        self
    }

    /// Restricts the box to strings with this prefix on a dimension.
    pub fn prefix(self, dimension: &str, prefix: impl AsRef<[u8]>) -> Self {
        self.range(dimension, Given::prefix(prefix.as_ref()))
    }
}

/// Adds boxes to the list of ranges of each dimension.
pub(super) fn add_boxes(
    all: &mut [Vec<DimRange>],
    schema: &ArraySchema,
    boxes: impl IntoIterator<Item = QueryBox>,
) -> Result<()> {
    let limits: Vec<DimRange> = (0..schema.dim_count()).map(|index| schema.limits(index)).collect();
    // Strings outside of a current domain are allowed, as in ranges.
    let whole = schema.dimensions().iter().zip(&limits).map(|(dimension, limits)| match dimension.is_var() {
        true => DimRange::everything(dimension.kind()),
        false => limits.clone(),
    });
    let whole: Vec<DimRange> = whole.collect();
    for (number, QueryBox { ranges }) in boxes.into_iter().enumerate() {
        let mut sides = whole.clone();
        for (name, start, end) in ranges {
            let index = dimension_index(schema, &name)?;
            let given = Given { start, end };
            let range = given.on(&schema.dimensions()[index], &limits[index]).map_err(|error| match error {
                CellsError::Range { dimension, range, why } => {
                    CellsError::Range { dimension, range, why: format!("in box {number}: {why}") }
                }
                other => other,
            })?;
            sides[index] = sides[index].intersection(&range).ok_or_else(|| CellsError::Range {
                dimension: name,
                range: given.to_string(),
                why: format!("in box {number}: no overlap with the other ranges of the box on this dimension"),
            })?;
        }
        all.iter_mut().zip(sides).for_each(|(ranges, side)| ranges.push(side));
    }
    Ok(())
}

/// Adds points to the list of ranges of each dimension.
pub(super) fn add_points(boxes: &mut [Vec<DimRange>], schema: &ArraySchema, points: &WriteBatch<'_>) -> Result<()> {
    let mut places = Vec::new();
    for (name, column) in points.columns() {
        let index = dimension_index(schema, name)?;
        if places.iter().any(|(other, _)| *other == index) {
            return Err(CellsError::RepeatedColumn { name: name.to_owned() }.into());
        }
        places.push((index, column));
    }
    let mut all: Vec<Vec<DimRange>> = Vec::new();
    for (index, dimension) in schema.dimensions().iter().enumerate() {
        let column = places.iter().find(|(place, _)| *place == index);
        let (_, column) = column.ok_or_else(|| CellsError::MissingColumn { name: dimension.name().to_owned() })?;
        let kind = schema
            .field_type(FieldRef::Dimension(index))
            .ok_or_else(|| CellsError::UnknownDimension { name: dimension.name().to_owned(), known: Vec::new() })?;
        let cells = check_column(dimension.name(), kind, column)?;
        let ranges = match dimension.is_var() {
            true => cells.var_cells().map(|string| DimRange::strings(string, string)).collect(),
            false => keys(dimension, cells.values(), &schema.limits(index))?,
        };
        if let Some(first) = all.first()
            && first.len() != ranges.len()
        {
            let what =
                format!("found {} coordinates, expected {} as for the other dimensions", ranges.len(), first.len());
            return Err(CellsError::ColumnShape { field: dimension.name().to_owned(), what }.into());
        }
        all.push(ranges);
    }
    boxes.iter_mut().zip(all).for_each(|(ranges, mut new)| ranges.append(&mut new));
    Ok(())
}

/// Returns a range of a single coordinate for each value. Fails if a coordinate is outside of
/// `limits`.
fn keys(dimension: &Dimension, values: &[u8], limits: &DimRange) -> Result<Vec<DimRange>> {
    let physical = dimension.physical();
    let mut keys = Vec::with_capacity(values.len() / physical.size());
    ordered_keys(physical, values, &mut keys);
    if let Some(point) = keys.iter().position(|key| !limits.contains_key(*key)) {
        let value = Scalar::from_key(physical, keys[point]);
        let why = match limits {
            DimRange::Fixed { lo, hi } => {
                let [lo, hi] = [lo, hi].map(|key| Scalar::from_key(physical, *key));
                format!("{value} is outside the domain {lo}..={hi}")
            }
            DimRange::Var { .. } => format!("{value} is not a string"),
        };
        return Err(CellsError::Point { dimension: dimension.name().to_owned(), point: point as u64, why }.into());
    }
    // Zeros of both signs are equal, but have adjacent keys.
    let zeros = match physical {
        PhysicalType::F32 => Some([Scalar::F32(-0.0).key(), Scalar::F32(0.0).key()]),
        PhysicalType::F64 => Some([Scalar::F64(-0.0).key(), Scalar::F64(0.0).key()]),
        _ => None,
    };
    let range = |key: u64| match zeros.filter(|zeros| zeros.contains(&key)) {
        Some([lo, hi]) => DimRange::Fixed { lo, hi },
        None => DimRange::Fixed { lo: key, hi: key },
    };
    Ok(keys.into_iter().map(range).collect())
}

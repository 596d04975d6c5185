//! Selections with tdb.

use std::ops::Bound;

use tdb_array::{Array, ArrayError, CellsError, Coordinate, Query, QueryBox, WriteBatch, WriteColumn};
use tdb_schema::ArraySchema;
use tdb_types::{Datatype, Scalar};

use super::describe::describe;
use crate::selection::{Interval, Selection};
use tdb_reference::model::{Bytes, QuerySpec, RangesSpec};

type Ends = (Bound<Coordinate>, Bound<Coordinate>);

/// Restricts a query to the ranges, points and boxes of a question.
pub fn select(array: &Array, mut query: Query, spec: &QuerySpec, selection: &Selection) -> Result<Query, String> {
    for ranges in &spec.ranges {
        query = select_ranges(array, query, ranges, selection)?;
    }
    let schema = array.schema();
    if let Some(boxes) = &selection.boxes {
        let boxes = boxes.iter().map(|sides| query_box(schema, sides)).collect::<Result<Vec<_>, _>>()?;
        query = query.boxes(boxes).map_err(|error| describe(&error))?;
    }
    if let Some(points) = &selection.points {
        query = query.points(columns(schema, points)).map_err(|error| describe(&error))?;
    }
    Ok(query)
}

/// Checks that tdb refuses a point outside of the domain.
pub fn refuses(array: &Array, point: &[Bytes]) -> Result<(), String> {
    match array.read().points(columns(array.schema(), &[point.to_vec()])) {
        Err(ArrayError::Cells(CellsError::Point { point: 0, .. })) => Ok(()),
        Err(error) => Err(format!("a point outside of the domain: {}", describe(&error))),
        Ok(_) => Err("a point outside of the domain is not refused".to_owned()),
    }
}

fn select_ranges(array: &Array, mut query: Query, spec: &RangesSpec, selection: &Selection) -> Result<Query, String> {
    let failed = |error: ArrayError| describe(&error);
    let (name, schema) = (spec.dimension.as_str(), array.schema());
    let dimension = schema.dimensions().iter().find(|dimension| dimension.name() == name);
    let label = schema.labels().iter().find(|label| label.name == name);
    let of_dimension = dimension.map(|dimension| (dimension.datatype(), dimension.is_var()));
    let of_label = label.map(|label| (label.datatype, label.cell_val_num.fixed().is_none()));
    let (datatype, is_var) = of_dimension.or(of_label).ok_or("no such dimension")?;
    let mut together = Vec::new();
    for range in &spec.ranges {
        match selection.form(name, range) {
            Interval::Prefix(prefix) => query = query.prefix(name, &*prefix).map_err(failed)?,
            Interval::Ends(start, end) => {
                let ends = ends(datatype, is_var, &start, &end)?;
                match dimension {
                    Some(_) => together.push(ends),
                    None => query = query.label_range(name, ends).map_err(failed)?,
                }
            }
        }
    }
    match &together[..] {
        [] => Ok(query),
        [one] => query.range(name, one.clone()).map_err(failed),
        _ => query.ranges(name, together).map_err(failed),
    }
}

fn query_box(schema: &ArraySchema, sides: &[Vec<Interval>]) -> Result<QueryBox, String> {
    let mut region = QueryBox::new();
    for (dimension, side) in schema.dimensions().iter().zip(sides) {
        for interval in side {
            region = match interval {
                Interval::Prefix(prefix) => region.prefix(dimension.name(), &**prefix),
                Interval::Ends(start, end) => {
                    region.range(dimension.name(), ends(dimension.datatype(), dimension.is_var(), start, end)?)
                }
            };
        }
    }
    Ok(region)
}

pub(super) fn ends(datatype: Datatype, is_var: bool, start: &Bound<Bytes>, end: &Bound<Bytes>) -> Result<Ends, String> {
    let coordinate = |bytes: &Bytes| match is_var {
        true => Ok(Coordinate::Bytes(bytes.to_vec())),
        false => {
            let scalar = Scalar::from_le_bytes(datatype.physical(), bytes);
            scalar.map(Coordinate::from).ok_or_else(|| "a bound of another size".to_owned())
        }
    };
    let bound = |bound: &Bound<Bytes>| {
        Ok::<_, String>(match bound {
            Bound::Included(bytes) => Bound::Included(coordinate(bytes)?),
            Bound::Excluded(bytes) => Bound::Excluded(coordinate(bytes)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    Ok((bound(start)?, bound(end)?))
}

/// Converts points to columns. The last dimension comes first, because the order of columns does
/// not matter.
fn columns(schema: &ArraySchema, points: &[Vec<Bytes>]) -> WriteBatch<'static> {
    let dimensions = schema.dimensions().iter().enumerate().rev();
    dimensions.fold(WriteBatch::new(), |cells, (index, dimension)| {
        let values = points.iter().map(|point| &point[index]);
        let column = match dimension.is_var() {
            true => WriteColumn::strings(values.map(|value| &value[..])),
            false => WriteColumn::owned(values.flat_map(|value| value.to_vec()).collect(), None, None),
        };
        cells.with(dimension.name().to_owned(), column)
    })
}

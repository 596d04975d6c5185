//! The definition of a query, independent of an open array.

use tdb_cells::CellsError;
use tdb_condition::Condition;
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, Result, Snapshot};

use super::{Order, Query};

/// The definition of a query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuerySpec {
    /// The names of fields and labels. `None` for the default selection.
    pub(crate) selected: Option<Vec<String>>,
    /// The ranges of each dimension, as given. Empty for the whole dimension.
    pub(crate) ranges: Vec<Vec<DimRange>>,
    /// Boxes and points, if any: a list of ranges for each dimension.
    pub(crate) boxes: Option<Vec<Vec<DimRange>>>,
    pub(crate) order: Order,
    pub(crate) filter: Option<Condition>,
    pub(crate) only_matching: bool,
    pub(crate) budget: Option<usize>,
    pub(crate) batch_cells: Option<usize>,
    pub(crate) batch_bytes: Option<usize>,
}

impl QuerySpec {
    /// Restricts the query to a box over all dimensions. Returns `None` if the result is empty.
    pub(crate) fn within(&self, schema: &ArraySchema, window: &NdRange) -> Option<Self> {
        let mut ranges = Vec::with_capacity(self.ranges.len());
        for (index, (given, window)) in self.ranges.iter().zip(&window.0).enumerate() {
            let all = [schema.limits(index)];
            let given = if given.is_empty() { &all[..] } else { given };
            let inside: Vec<DimRange> = given.iter().filter_map(|range| range.intersection(window)).collect();
            if inside.is_empty() {
                return None;
            }
            ranges.push(inside);
        }
        let boxes = match &self.boxes {
            Some(boxes) => Some(boxes_within(boxes, window)?),
            None => None,
        };
        Some(Self { ranges, boxes, ..self.clone() })
    }
}

/// Intersects boxes with a box. Returns `None` if the result is empty.
fn boxes_within(boxes: &[Vec<DimRange>], window: &NdRange) -> Option<Vec<Vec<DimRange>>> {
    let mut inside = vec![Vec::new(); boxes.len()];
    for number in 0..boxes.first()?.len() {
        let sides = boxes.iter().zip(&window.0);
        let sides = sides.map(|(ranges, window)| ranges.get(number)?.intersection(window));
        let Some(sides) = sides.collect::<Option<Vec<DimRange>>>() else { continue };
        inside.iter_mut().zip(sides).for_each(|(ranges, side)| ranges.push(side));
    }
    (!inside.first()?.is_empty()).then_some(inside)
}

impl Query {
    /// Creates a query of an array from a definition.
    ///
    /// # Errors
    /// The array does not have the fields or dimensions of the definition, or ranges are outside of
    /// the domain.
    pub(crate) fn of_spec(array: &Snapshot, spec: &QuerySpec) -> Result<Self> {
        let schema = array.schema();
        check_ranges(schema, &spec.ranges)?;
        if let Some(boxes) = &spec.boxes {
            check_ranges(schema, boxes)?;
            let count = boxes.first().map_or(0, Vec::len);
            if boxes.iter().any(|ranges| ranges.len() != count) {
                return Err(ArrayError::Query("a box must have one range per dimension".to_owned()));
            }
        }
        let mut query = Self { spec: spec.clone(), ..Self::new(array) };
        if let Some(names) = &spec.selected {
            query = query.select(names)?;
        }
        let QuerySpec { budget, batch_cells, batch_bytes, .. } = &mut query.spec;
        [budget, batch_cells, batch_bytes].into_iter().flatten().for_each(|number| *number = (*number).max(1));
        Ok(query)
    }
}

/// Checks ranges against the dimensions.
fn check_ranges(schema: &ArraySchema, ranges: &[Vec<DimRange>]) -> Result<()> {
    if ranges.len() != schema.dim_count() {
        let what = format!("found ranges on {} dimensions, expected {}", ranges.len(), schema.dim_count());
        return Err(ArrayError::Query(what));
    }
    for (index, ranges) in ranges.iter().enumerate() {
        let limits = schema.limits(index);
        let is_fine = |range: &&DimRange| match (range, &limits) {
            (DimRange::Var { .. }, DimRange::Var { .. }) => !range.is_empty(),
            (DimRange::Fixed { .. }, DimRange::Fixed { .. }) => !range.is_empty() && limits.contains(range),
            _ => false,
        };
        if let Some(wrong) = ranges.iter().find(|range| !is_fine(range)) {
            let dimension = schema.field_name(FieldRef::Dimension(index)).unwrap_or_default().to_owned();
            let range = format!("{wrong:?}");
            return Err(CellsError::Range {
                dimension,
                range,
                why: "the range is empty or outside of the domain".to_owned(),
            }
            .into());
        }
    }
    Ok(())
}

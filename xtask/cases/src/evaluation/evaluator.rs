//! A simple evaluator of questions, as an oracle for both sides.

use crate::case::{Case, Question};
use crate::scalars::order_of;
use crate::selection::{Interval, Selection};
use tdb_reference::model::{Bytes, RangesSpec};

/// Decides whether a question selects a cell.
pub struct Evaluator<'a> {
    case: &'a Case,
    selection: &'a Selection,
    /// Intervals of each dimension. A dimension without ranges has no intervals.
    ranges: Vec<Vec<Interval>>,
}

impl<'a> Evaluator<'a> {
    pub fn new(case: &'a Case, question: &'a Question) -> Self {
        let of_dimension = |ranges: &RangesSpec| {
            let forms = ranges.ranges.iter().map(|range| question.selection.form(&ranges.dimension, range));
            forms.collect::<Vec<_>>()
        };
        let ranges = case.array.dimension_names().map(|name| {
            let of_name = question.query.ranges.iter().filter(|ranges| ranges.dimension == name);
            of_name.flat_map(of_dimension).collect()
        });
        Self { case, selection: &question.selection, ranges: ranges.collect() }
    }

    /// `true` if the question selects the cell with these coordinates.
    pub fn holds(&self, cell: &[&[u8]]) -> bool {
        let mut dimensions = self.case.array.dimensions.iter().zip(&self.ranges).zip(cell);
        let in_ranges = dimensions.all(|((dimension, ranges), value)| {
            ranges.is_empty() || ranges.iter().any(|range| range.holds(dimension.datatype, value))
        });
        in_ranges && (!self.selection.is_set() || self.is_in_box(cell) || self.is_point(cell))
    }

    fn is_in_box(&self, cell: &[&[u8]]) -> bool {
        let holds = |sides: &Vec<Vec<Interval>>| {
            let mut along = self.case.array.dimensions.iter().zip(sides).zip(cell);
            along.all(|((dimension, side), value)| side.iter().all(|part| part.holds(dimension.datatype, value)))
        };
        self.selection.boxes.iter().flatten().any(holds)
    }

    fn is_point(&self, cell: &[&[u8]]) -> bool {
        let is_at = |point: &Vec<Bytes>| {
            let mut along = self.case.array.dimensions.iter().zip(point).zip(cell);
            along.all(|((dimension, coordinate), value)| {
                **coordinate == **value
                    || order_of(dimension.datatype, coordinate) == order_of(dimension.datatype, value)
            })
        };
        self.selection.points.iter().flatten().any(is_at)
    }
}

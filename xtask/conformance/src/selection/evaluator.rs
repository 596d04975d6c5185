//! Which cells a question asks for, decided cell by cell.

use tdb_types::{ArrayType, Layout};

use super::{Interval, Selection};
use crate::case::{Case, Question};
use crate::generate::order_of;
use tdb_reference::model::{Bytes, RangesSpec};

/// Says of cells how often a question asks for them.
pub struct Evaluator<'a> {
    case: &'a Case,
    selection: &'a Selection,
    /// The intervals of each dimension that has some.
    ranges: Vec<Vec<Interval>>,
    repeats: bool,
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
        let ordered = matches!(question.query.layout, Layout::RowMajor | Layout::ColMajor);
        let repeats = case.array.array_type == ArrayType::Dense || ordered;
        Self {
            case,
            selection: &question.selection,
            ranges: ranges.collect(),
            repeats: repeats && !question.selection.is_set(),
        }
    }

    /// Whether the order of the result is settled by that of all cells.
    pub fn keeps_order(&self) -> bool {
        !self.repeats || self.ranges.iter().all(|ranges| ranges.len() < 2)
    }

    /// How often the cell with these coordinates is asked for.
    pub fn times(&self, cell: &[&[u8]]) -> usize {
        let dimensions = &self.case.array.dimensions;
        let of_dimension = |index: usize| {
            let datatype = dimensions[index].datatype;
            match &self.ranges[index][..] {
                [] => 1,
                ranges => ranges.iter().filter(|range| range.holds(datatype, cell[index])).count(),
            }
        };
        let times: usize = (0..dimensions.len()).map(of_dimension).product();
        let wanted = times > 0 && (!self.selection.is_set() || self.is_in_box(cell) || self.is_point(cell));
        match (wanted, self.repeats) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => times,
        }
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

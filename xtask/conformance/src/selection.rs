//! Which cells a question asks for, in the ways that ours has and the library hasn't: ranges with an end left out, prefixes, points,
//! boxes; and which cells these are, decided cell by cell.

mod interval;
mod parts;

use tdb_types::{ArrayType, Layout};

use crate::case::{Case, Question};
use crate::generate::order_of;
use tdb_reference::model::{Bytes, RangesSpec};

pub use interval::Interval;
pub use parts::{as_ranges, limits, merge, parts};

/// What a question asks for beside the ranges of its query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// How some of the query's ranges are given to ours.
    pub forms: Vec<Form>,
    /// Points, if any were given, be it none: each has a coordinate for each dimension.
    pub points: Option<Vec<Vec<Bytes>>>,
    /// Boxes, if any were given, be it none: for each dimension the intervals that hold the box's coordinates along it.
    pub boxes: Option<Vec<Vec<Vec<Interval>>>>,
    /// A point that lies outside of the domain along some dimension, which ours has to refuse.
    pub outside: Option<Vec<Bytes>>,
}

/// A range of the query that is given in another form than with both ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub dimension: String,
    /// The range as the query has it, which holds the same cells.
    pub range: (Bytes, Bytes),
    pub interval: Interval,
}

impl Selection {
    /// Whether cells are wanted once, however often they are asked for.
    pub fn is_set(&self) -> bool {
        self.points.is_some() || self.boxes.is_some()
    }

    /// Whether there is nothing beside the ranges of the query.
    pub fn is_plain(&self) -> bool {
        !self.is_set() && self.forms.is_empty()
    }

    /// How a range of the query is given to ours.
    pub fn form(&self, dimension: &str, range: &(Bytes, Bytes)) -> Interval {
        let form = self.forms.iter().find(|form| form.dimension == dimension && form.range == *range);
        form.map_or_else(|| Interval::closed(range), |form| form.interval.clone())
    }

    /// How many points and boxes there are.
    pub fn count(&self) -> usize {
        self.points.as_ref().map_or(0, Vec::len) + self.boxes.as_ref().map_or(0, Vec::len)
    }
}

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

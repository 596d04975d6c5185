//! Which cells a question asks for, in the ways that ours has and the library hasn't: ranges with an end left out, prefixes, points,
//! boxes.

mod interval;

use tdb_reference::model::Bytes;

pub use interval::Interval;

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

//! Selections that only tdb supports: open-ended ranges, prefixes, points, boxes.

mod interval;

use tdb_reference::model::Bytes;

pub use interval::Interval;

/// The selection of a question, in addition to the ranges of its query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Other forms of the query's ranges for tdb.
    pub forms: Vec<Form>,
    /// The points, which may be an empty list. Each point has a coordinate for each dimension.
    pub points: Option<Vec<Vec<Bytes>>>,
    /// The boxes, possibly an empty list. A side of a box is the intersection of the intervals
    /// along a dimension.
    pub boxes: Option<Vec<Vec<Vec<Interval>>>>,
    /// A point outside of the domain, which tdb must refuse.
    pub outside: Option<Vec<Bytes>>,
}

/// Another form of a closed range of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub dimension: String,
    /// The closed range of the query, which contains the same cells.
    pub range: (Bytes, Bytes),
    pub interval: Interval,
}

impl Selection {
    /// `true` if each cell is returned once, even if several points or boxes contain it.
    pub fn is_set(&self) -> bool {
        self.points.is_some() || self.boxes.is_some()
    }

    /// `true` if the query has only closed ranges.
    pub fn is_plain(&self) -> bool {
        !self.is_set() && self.forms.is_empty()
    }

    /// Returns the form of a range of the query for tdb.
    pub fn form(&self, dimension: &str, range: &(Bytes, Bytes)) -> Interval {
        let form = self.forms.iter().find(|form| form.dimension == dimension && form.range == *range);
        form.map_or_else(|| Interval::closed(range), |form| form.interval.clone())
    }

    /// Returns the number of points and boxes.
    pub fn count(&self) -> usize {
        self.points.as_ref().map_or(0, Vec::len) + self.boxes.as_ref().map_or(0, Vec::len)
    }
}

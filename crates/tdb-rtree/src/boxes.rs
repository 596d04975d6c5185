//! Sets of subarrays (boxes).

mod build;
mod keep;

use std::ops::Bound;

use crate::column::Column;
use crate::{DimRange, DimensionKind, NdRange};

/// A set of subarrays, called boxes. A box has a range in each dimension, or is a point. Duplicates
/// count once.
///
/// Boxes are prepared for comparison with many tiles
/// ([`RTree::search_boxes`](crate::RTree::search_boxes)) and many cells. In each dimension, the
/// first coordinate of every box, and the first coordinate after every box, are *cuts*. The *place*
/// of a coordinate is the number of cuts at or before the coordinate. All coordinates from one cut
/// up to the next therefore share a place. Boxes, tiles and cells of numbers and strings are
/// compared by place.
///
/// ```
/// use tdb_rtree::{Boxes, DimRange, DimensionKind};
/// use tdb_types::{Datatype, Scalar};
///
/// let kinds = [DimensionKind::fixed(Datatype::Int32), DimensionKind::var(Datatype::StringAscii)];
/// let number = |value| DimRange::between(Scalar::I32(value), Scalar::I32(value)).unwrap();
/// let numbers = vec![number(7), number(3), number(7)];
/// let strings = vec![DimRange::prefix("a"), DimRange::strings("b", "c"), DimRange::prefix("a")];
/// let boxes = Boxes::new(&kinds, &[numbers, strings])?;
/// assert_eq!(boxes.len(), 2); // the duplicate counts once
/// # Ok::<(), tdb_rtree::RTreeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boxes {
    /// The cuts of each dimension.
    cuts: Vec<Cuts>,
    /// For each dimension, the first place of each box. Boxes are sorted by these places.
    starts: Vec<Vec<u32>>,
    /// For each dimension, the first place after each box.
    ends: Vec<Vec<u32>>,
    len: usize,
    /// `true` if the ends of the sorted boxes ascend in the first dimension.
    ascending: bool,
}

/// The cuts of a dimension, distinct and ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Cuts {
    Keys(Vec<u64>),
    Strings(Vec<Vec<u8>>),
}

/// For each dimension, the first and last place of a tile or cell.
pub(crate) type Places = Vec<(u32, u32)>;

impl Boxes {
    /// Returns the number of distinct boxes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no boxes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the memory used in bytes, without the bytes of strings.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        let cuts = self.cuts.iter().map(|cuts| match cuts {
            Cuts::Keys(keys) => size_of_val(&**keys),
            Cuts::Strings(strings) => size_of_val(&**strings),
        });
        cuts.sum::<usize>().saturating_add(self.len.saturating_mul(8).saturating_mul(self.cuts.len()))
    }

    /// Returns the range of a box in a dimension, or `None` if the box or dimension does not exist.
    #[must_use]
    pub fn range(&self, dimension: usize, number: usize) -> Option<DimRange> {
        let start = *self.starts.get(dimension)?.get(number)?;
        let end = *self.ends.get(dimension)?.get(number)?;
        self.cuts.get(dimension)?.range(start, end)
    }

    /// Returns the smallest range that contains all boxes, or `None` without boxes.
    #[must_use]
    pub fn hull(&self) -> Option<NdRange> {
        let ranges = self
            .cuts
            .iter()
            .zip(&self.starts)
            .zip(&self.ends)
            .map(|((cuts, starts), ends)| cuts.range(*starts.iter().min()?, *ends.iter().max()?));
        ranges.collect::<Option<_>>().map(NdRange)
    }

    /// Returns the indices of the boxes that intersect a tile's bounds, ascending. Excluded ends of
    /// `bounds` count as included.
    #[must_use]
    pub fn meeting(&self, bounds: &NdRange) -> Vec<u32> {
        let places = self.cuts.iter().zip(&bounds.0).map(|(cuts, range)| cuts.places_of(range)).collect();
        self.meeting_places(&places, None)
    }

    /// Returns `true` if one of the given boxes contains a tile's bounds. Excluded ends of `bounds`
    /// count as included.
    #[must_use]
    pub fn cover(&self, bounds: &NdRange, some: &[u32]) -> bool {
        let places = self.cuts.iter().zip(&bounds.0).map(|(cuts, range)| cuts.places_of(range)).collect();
        self.cover_places(&places, some)
    }

    /// Returns the indices of all boxes, or of the given boxes, that intersect the places.
    pub(crate) fn meeting_places(&self, places: &Places, some: Option<&[u32]>) -> Vec<u32> {
        let (Some((first, last)), Some(starts), Some(ends)) =
            (places.first().copied(), self.starts.first(), self.ends.first())
        else {
            return Vec::new();
        };
        let meets = |number: &u32| self.meets(places, *number);
        let begins = |number: u32| starts.get(number as usize).is_some_and(|start| *start <= last);
        let is_over = |number: u32| self.ascending && ends.get(number as usize).is_some_and(|end| *end <= first);
        match some {
            Some(some) => {
                let end = some.partition_point(|number| begins(*number));
                let start = some.partition_point(|number| is_over(*number)).min(end);
                some.get(start..end).unwrap_or_default().iter().copied().filter(meets).collect()
            }
            None => {
                let end = starts.partition_point(|start| *start <= last);
                let start = if self.ascending { ends.partition_point(|end| *end <= first).min(end) } else { 0 };
                (start as u32..end as u32).filter(meets).collect()
            }
        }
    }

    /// Returns `true` if one of the given boxes contains the places.
    pub(crate) fn cover_places(&self, places: &Places, some: &[u32]) -> bool {
        some.iter().any(|number| {
            let number = *number as usize;
            self.starts.iter().zip(&self.ends).zip(places).all(|((starts, ends), (first, last))| {
                starts.get(number).is_some_and(|start| start <= first) && ends.get(number).is_some_and(|end| last < end)
            })
        })
    }

    fn meets(&self, places: &Places, number: u32) -> bool {
        let number = number as usize;
        self.starts.iter().zip(&self.ends).zip(places).all(|((starts, ends), (first, last))| {
            starts.get(number).is_some_and(|start| start <= last) && ends.get(number).is_some_and(|end| first < end)
        })
    }

    /// Returns `true` if the boxes have as many dimensions as `kinds`, with strings in the same
    /// dimensions.
    pub(crate) fn are_of(&self, kinds: &[DimensionKind]) -> bool {
        let is_of = |(cuts, kind): (&Cuts, &DimensionKind)| matches!(cuts, Cuts::Strings(_)) == kind.var;
        self.cuts.len() == kinds.len() && self.cuts.iter().zip(kinds).all(is_of)
    }

    /// Returns the places of a node of a tree.
    pub(crate) fn places_of_node(&self, columns: &[Column], node: usize) -> Option<Places> {
        self.cuts.iter().zip(columns).map(|(cuts, column)| cuts.places_of_node(column, node)).collect()
    }
}

impl Cuts {
    fn len(&self) -> usize {
        match self {
            Self::Keys(keys) => keys.len(),
            Self::Strings(strings) => strings.len(),
        }
    }

    /// Returns the coordinates of the places from `start` up to `end`, excluding `end`. Returns
    /// `None` if the places do not exist.
    fn range(&self, start: u32, end: u32) -> Option<DimRange> {
        let (start, end) = ((start as usize).checked_sub(1)?, (end as usize).checked_sub(1)?);
        match self {
            Self::Keys(keys) => {
                let hi = keys.get(end).map_or(Some(u64::MAX), |end| end.checked_sub(1))?;
                Some(DimRange::Fixed { lo: *keys.get(start)?, hi })
            }
            Self::Strings(strings) => {
                let hi = strings.get(end).map_or(Bound::Unbounded, |end| Bound::Excluded(end.clone()));
                Some(DimRange::Var { lo: strings.get(start)?.clone(), hi })
            }
        }
    }

    fn place_of_key(&self, key: u64) -> u32 {
        match self {
            Self::Keys(keys) => keys.partition_point(|cut| *cut <= key) as u32,
            Self::Strings(_) => 0,
        }
    }

    fn place_of_string(&self, string: &[u8]) -> u32 {
        match self {
            Self::Keys(_) => 0,
            Self::Strings(strings) => strings.partition_point(|cut| cut.as_slice() <= string) as u32,
        }
    }

    /// Returns the first and last place of a range, as if its end were included.
    fn places_of(&self, range: &DimRange) -> (u32, u32) {
        match range {
            DimRange::Fixed { lo, hi } => (self.place_of_key(*lo), self.place_of_key(*hi)),
            DimRange::Var { lo, hi } => {
                let last = match hi {
                    Bound::Included(hi) | Bound::Excluded(hi) => self.place_of_string(hi),
                    Bound::Unbounded => self.len() as u32,
                };
                (self.place_of_string(lo), last)
            }
        }
    }

    fn places_of_node(&self, column: &Column, node: usize) -> Option<(u32, u32)> {
        Some(match column {
            Column::Fixed(column) => {
                let (lo, hi) = column.bounds_of(node)?;
                (self.place_of_key(lo), self.place_of_key(hi))
            }
            Column::Var(column) => {
                let (lo, hi) = column.bounds(node)?;
                (self.place_of_string(lo), hi.map_or(self.len() as u32, |hi| self.place_of_string(hi)))
            }
        })
    }
}

//! Places for cutting a range of coordinates in two.

use std::ops::Bound;

use tdb_rtree::DimRange;
use tdb_schema::ArraySchema;
use tdb_types::{PhysicalType, Scalar};

/// The first coordinate of the upper side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Key(u64),
    String(Vec<u8>),
}

/// Ascending places to cut, at least one.
#[derive(Debug)]
pub(super) enum Places {
    /// Ordered keys at a constant distance. Never between `-0.0` and `0.0`.
    Keys {
        first: u64,
        step: u64,
        /// The index of the last key, from 0.
        last: u64,
        /// The key of `0.0`, if the dimension has floats.
        zero: Option<u64>,
    },
    Strings(Vec<Vec<u8>>),
}

impl Places {
    /// Returns the places within a window of a dimension, or `None` if there are no places.
    ///
    /// Dense arrays have places only between tiles, unless `within_tiles` is set. Strings have
    /// places only at the bounds of `ranges`.
    pub(super) fn of<'r>(
        schema: &ArraySchema,
        index: usize,
        window: &DimRange,
        ranges: impl Iterator<Item = &'r DimRange>,
        within_tiles: bool,
    ) -> Option<Self> {
        let dimension = schema.dimensions().get(index)?;
        match window {
            DimRange::Var { lo, hi } => strings(lo, hi, ranges),
            DimRange::Fixed { lo, hi } if schema.is_dense() && !within_tiles => {
                let (low, _) = dimension.domain_keys()?;
                let extent = dimension.extent_cells()?.max(1);
                // Tiles may end beyond the maximum key.
                let end = |tile: u64| tile.checked_mul(extent)?.checked_add(low);
                let first = end((lo.checked_sub(low)? / extent).checked_add(1)?)?;
                let last = end(hi.checked_sub(low)? / extent)?;
                (first <= last).then(|| Self::Keys { first, step: extent, last: (last - first) / extent, zero: None })
            }
            DimRange::Fixed { lo, hi } => {
                let first = lo.checked_add(1)?;
                let zero = match dimension.physical() {
                    PhysicalType::F32 => Some(Scalar::F32(0.0).key()),
                    PhysicalType::F64 => Some(Scalar::F64(0.0).key()),
                    _ => None,
                };
                // `-0.0` and `0.0` are the same coordinate, but have adjacent keys. A cut must not
                // separate the keys.
                let is_between = |key: u64| Some(key) == zero;
                let first = if is_between(first) { first.checked_add(1)? } else { first };
                (first <= *hi).then(|| Self::Keys { first, step: 1, last: hi - first, zero })
            }
        }
    }

    /// Returns the index of the last place, from 0.
    pub(super) fn last(&self) -> u64 {
        match self {
            Self::Keys { last, .. } => *last,
            Self::Strings(strings) => (strings.len() as u64).saturating_sub(1),
        }
    }

    pub(super) fn get(&self, number: u64) -> Option<Cut> {
        match self {
            Self::Keys { first, step, zero, .. } => {
                let key = first.checked_add(number.checked_mul(*step)?)?;
                // The preceding key is a valid place, because the first place is never the zero.
                Some(Cut::Key(if Some(key) == *zero { key - 1 } else { key }))
            }
            Self::Strings(strings) => strings.get(usize::try_from(number).ok()?).cloned().map(Cut::String),
        }
    }
}

/// Returns the places within the window: the start of each range, and the first string after its
/// end.
fn strings<'r>(lo: &[u8], hi: &Bound<Vec<u8>>, ranges: impl Iterator<Item = &'r DimRange>) -> Option<Places> {
    let mut places = Vec::new();
    for range in ranges {
        let DimRange::Var { lo, hi } = range else { continue };
        places.push(lo.clone());
        match hi {
            // The next string.
            Bound::Included(hi) => places.push([hi, &[0][..]].concat()),
            Bound::Excluded(hi) => places.push(hi.clone()),
            Bound::Unbounded => {}
        }
    }
    let is_within = |place: &Vec<u8>| {
        let is_before_end = match hi {
            Bound::Included(hi) => place <= hi,
            Bound::Excluded(hi) => place < hi,
            Bound::Unbounded => true,
        };
        place.as_slice() > lo && is_before_end
    };
    places.retain(is_within);
    places.sort_unstable();
    places.dedup();
    (!places.is_empty()).then_some(Places::Strings(places))
}

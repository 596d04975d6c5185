//! Division of a large read into windows.
//!
//! A window is a part of the query. The stored bytes of a window fit into memory. The cells of
//! consecutive windows have the query's order. Cuts are at the bounds of tiles where possible, so
//! no tile is decoded twice.

use std::collections::BTreeMap;

use tdb_array::Order;
use tdb_array::tdb_rtree::DimRange;
use tdb_array::tdb_schema::{ArraySchema, Dimension};
use tdb_array::tdb_types::Layout;

use crate::query::Keys;

/// A part of a query: the ranges of the dimensions that were cut.
pub(crate) type Window = BTreeMap<usize, Keys>;

/// Cuts a window of the query's ranges in two. Returns `None` if the order or the coordinates do
/// not allow it.
pub(crate) fn halves(
    schema: &ArraySchema,
    order: Order,
    ranges: &[Vec<DimRange>],
    window: &Window,
) -> Option<(Window, Window)> {
    let keys = |place: usize| window.get(&place).cloned().or_else(|| keys_of(ranges.get(place)?));
    let halves = |place: usize, (first, last): (Keys, Keys)| {
        let with = |keys| {
            let mut window = window.clone();
            window.insert(place, keys);
            window
        };
        (with(first), with(last))
    };
    let count = schema.dim_count();
    let by_cells = |is_row_major: bool| {
        let places: Vec<usize> = if is_row_major { (0..count).collect() } else { (0..count).rev().collect() };
        for place in places {
            let found = keys(place)?;
            let dimension = &schema.dimensions()[place];
            if let Some(cut) = cut_at_tile(dimension, &found).or_else(|| cut_at_key(&found)) {
                return Some(halves(place, cut));
            }
        }
        None
    };
    let tile_order = |allow_keys: bool| {
        let is_row_major = !matches!(schema.tile_order(), Layout::ColMajor);
        let places: Vec<usize> = if is_row_major { (0..count).collect() } else { (0..count).rev().collect() };
        for place in &places {
            let Some(found) = keys(*place) else { if allow_keys { continue } else { return None } };
            if let Some(cut) = cut_at_tile(&schema.dimensions()[*place], &found) {
                return Some(halves(*place, cut));
            }
        }
        if !allow_keys {
            return None;
        }
        let found = places.iter().find_map(|place| Some((*place, cut_at_key(&keys(*place)?)?)));
        found.map(|(place, cut)| halves(place, cut))
    };
    match order {
        Order::RowMajor => by_cells(true),
        Order::ColMajor => by_cells(false),
        Order::Unordered => tile_order(true),
        Order::Global => {
            let has_tiles = schema.dimensions().iter().all(|dimension| dimension.tile_extent().is_some());
            match (schema.cell_order(), has_tiles) {
                (Layout::Hilbert, _) => None,
                (_, true) => tile_order(false),
                (Layout::RowMajor, false) => by_cells(true),
                (Layout::ColMajor, false) => by_cells(false),
                _ => None,
            }
        }
    }
}

/// Returns the keys of ranges. `None` for strings.
fn keys_of(ranges: &[DimRange]) -> Option<Keys> {
    let key = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => Some((*lo, *hi)),
        DimRange::Var { .. } => None,
    };
    ranges.iter().map(key).collect()
}

/// Cuts ranges before a key.
fn cut_before(ranges: &[(u64, u64)], key: u64) -> (Keys, Keys) {
    let first = ranges.iter().filter(|(lo, _)| *lo < key).map(|(lo, hi)| (*lo, (*hi).min(key - 1)));
    let last = ranges.iter().filter(|(_, hi)| *hi >= key).map(|(lo, hi)| ((*lo).max(key), *hi));
    (first.collect(), last.collect())
}

/// Cuts ranges at the first key of a tile near the middle.
fn cut_at_tile(dimension: &Dimension, ranges: &[(u64, u64)]) -> Option<(Keys, Keys)> {
    let (first, last) = (ranges.first()?.0, ranges.last()?.1);
    let (low, high) = (dimension.tile_index(first), dimension.tile_index(last));
    let middle = low + (high - low).div_ceil(2);
    if middle == low {
        return None;
    }
    let (key, _) = dimension.tile_range(middle)?;
    let (first, last) = cut_before(ranges, key);
    if first.is_empty() || last.is_empty() {
        // The middle is in a gap of the ranges.
        let place = ranges.len() / 2;
        let (tile, before) =
            (dimension.tile_index(ranges.get(place)?.0), dimension.tile_index(ranges.get(place.checked_sub(1)?)?.1));
        return (tile != before).then(|| (ranges[..place].to_vec(), ranges[place..].to_vec()));
    }
    Some((first, last))
}

/// Cuts ranges near the middle.
fn cut_at_key(ranges: &[(u64, u64)]) -> Option<(Keys, Keys)> {
    match ranges {
        [] => None,
        [(lo, hi)] if lo == hi => None,
        [(lo, hi)] => Some(cut_before(ranges, lo + (hi - lo).div_ceil(2))),
        ranges => {
            let (first, last) = ranges.split_at(ranges.len() / 2);
            Some((first.to_vec(), last.to_vec()))
        }
    }
}

#[cfg(test)]
mod tests {
    use tdb_array::tdb_schema::{Attribute, SchemaBuilder};
    use tdb_array::tdb_types::{Datatype, Scalar};

    use super::*;

    fn schema() -> ArraySchema {
        let side = |name| Dimension::new(name, 0u16..=9).with_tile(4u16);
        let schema = SchemaBuilder::dense().dimension(side("y")).dimension(side("x"));
        schema.attribute(Attribute::new("a", Datatype::Int8)).build().unwrap()
    }

    fn whole() -> Vec<Vec<DimRange>> {
        vec![vec![DimRange::between(Scalar::U16(0), Scalar::U16(9)).unwrap()]; 2]
    }

    /// Cuts windows until no window can be cut, in order.
    fn all(order: Order) -> Vec<Window> {
        let (schema, ranges) = (schema(), whole());
        let (mut done, mut stack) = (Vec::new(), vec![Window::new()]);
        while let Some(window) = stack.pop() {
            match halves(&schema, order, &ranges, &window) {
                Some((first, last)) => stack.extend([last, first]),
                None => done.push(window),
            }
        }
        done
    }

    #[test]
    fn first_cut_is_at_a_tile() {
        let (first, last) = halves(&schema(), Order::RowMajor, &whole(), &Window::new()).unwrap();
        assert_eq!((&first[&0], &last[&0]), (&vec![(0, 3)], &vec![(4, 9)]));
        let (first, _) = halves(&schema(), Order::ColMajor, &whole(), &Window::new()).unwrap();
        assert_eq!(first.keys().collect::<Vec<_>>(), [&1]);
    }

    #[test]
    fn windows_follow_the_order() {
        let cells: Vec<_> = all(Order::RowMajor).iter().map(|window| (window[&0][0].0, window[&1][0].0)).collect();
        let expected: Vec<_> = (0..10).flat_map(|y| (0..10).map(move |x| (y, x))).collect();
        assert_eq!(cells, expected);
        let tiles: Vec<_> = all(Order::Global).iter().map(|window| (window[&0][0], window[&1][0])).collect();
        let sides = [(0, 3), (4, 7), (8, 9)];
        assert_eq!(tiles, sides.iter().flat_map(|y| sides.iter().map(move |x| (*y, *x))).collect::<Vec<_>>());
        assert_eq!(all(Order::Unordered).len(), 100);
    }

    #[test]
    fn ranges_with_gaps_are_cut_between_tiles() {
        let schema = schema();
        let dimension = &schema.dimensions()[0];
        assert_eq!(cut_at_tile(dimension, &[(0, 1), (8, 9)]), Some((vec![(0, 1)], vec![(8, 9)])));
        assert_eq!(cut_at_tile(dimension, &[(0, 1), (3, 3)]), None);
        assert_eq!(cut_at_key(&[(0, 1), (3, 3)]), Some((vec![(0, 1)], vec![(3, 3)])));
        assert_eq!(cut_at_key(&[(7, 7)]), None);
    }
}

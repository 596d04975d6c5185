//! Selection of the cells inside boxes.

use super::Boxes;
use crate::DimRange;

/// Maximum number of cell-box comparisons done without further splitting.
const COMPARE_ALL: usize = 64;

impl Boxes {
    /// Returns the union of the given boxes' ranges in a dimension. The resulting ranges are
    /// ascending, disjoint and not adjacent.
    #[must_use]
    pub fn along(&self, dimension: usize, some: &[u32]) -> Vec<DimRange> {
        let (Some(cuts), Some(starts), Some(ends)) =
            (self.cuts.get(dimension), self.starts.get(dimension), self.ends.get(dimension))
        else {
            return Vec::new();
        };
        let side = |number: &u32| Some((*starts.get(*number as usize)?, *ends.get(*number as usize)?));
        let mut sides: Vec<(u32, u32)> = some.iter().filter_map(side).collect();
        sides.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (start, end) in sides {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        merged.into_iter().filter_map(|(start, end)| cuts.range(start, end)).collect()
    }

    /// Returns `true` if the given boxes differ in at most one dimension. Together they then equal
    /// the product of their unions [along](Self::along) each dimension.
    #[must_use]
    pub fn are_product(&self, some: &[u32]) -> bool {
        let differs = |places: &[u32]| {
            let mut places = some.iter().filter_map(|number| places.get(*number as usize));
            let first = places.next();
            places.any(|other| Some(other) != first)
        };
        self.starts.iter().zip(&self.ends).filter(|(starts, ends)| differs(starts) || differs(ends)).count() <= 1
    }

    /// Appends the places of keys in a dimension. Appends no places if the dimension does not
    /// exist.
    pub fn places_of_keys(&self, dimension: usize, keys: &[u64], places: &mut Vec<u32>) {
        if let Some(cuts) = self.cuts.get(dimension) {
            places.extend(keys.iter().map(|key| cuts.place_of_key(*key)));
        }
    }

    /// Appends the places of strings in a dimension. Appends no places if the dimension does not
    /// exist.
    pub fn places_of_strings<'s>(
        &self,
        dimension: usize,
        strings: impl IntoIterator<Item = &'s [u8]>,
        places: &mut Vec<u32>,
    ) {
        if let Some(cuts) = self.cuts.get(dimension) {
            places.extend(strings.into_iter().map(|string| cuts.place_of_string(string)));
        }
    }

    /// Returns a value for each cell, which is `true` if the cell is inside one of the given boxes.
    /// `places` contains the place of each cell, for each dimension.
    ///
    /// The function divides the cells at the middle place of a dimension, together with the boxes,
    /// until few comparisons remain.
    #[must_use]
    pub fn contain(&self, some: &[u32], places: &[Vec<u32>]) -> Vec<bool> {
        let len = places.iter().map(Vec::len).min().unwrap_or(0);
        let mut inside = vec![false; len];
        let mut cells: Vec<u32> = (0..len as u32).collect();
        self.halve(&mut cells, some.to_vec(), places, &mut inside);
        inside
    }

    fn halve(&self, cells: &mut [u32], mut some: Vec<u32>, places: &[Vec<u32>], inside: &mut [bool]) {
        // The loop handles the larger half, and recursion the smaller. The depth is therefore
        // logarithmic in the number of cells.
        let mut cells = cells;
        while !cells.is_empty() && !some.is_empty() {
            let hull = hull(cells, places);
            some.retain(|number| self.meets(&hull, *number));
            if self.cover_places(&hull, &some) {
                cells.iter().for_each(|cell| inside[*cell as usize] = true);
                return;
            }
            if cells.len().saturating_mul(some.len()) <= COMPARE_ALL {
                for cell in cells.iter() {
                    let point = places.iter().map(|places| (places[*cell as usize], places[*cell as usize])).collect();
                    inside[*cell as usize] |= self.cover_places(&point, &some);
                }
                return;
            }
            // If all cells have the same place in every dimension, no box contains them: a box that
            // contains the hull was handled above.
            let widest = hull.iter().enumerate().max_by_key(|(_, (first, last))| last - first);
            let Some((dimension, (first, last))) = widest.filter(|(_, (first, last))| first < last) else { return };
            let middle = first + (last - first) / 2;
            let of = &places[dimension];
            cells.sort_unstable_by_key(|cell| of[*cell as usize] > middle);
            let split = cells.partition_point(|cell| of[*cell as usize] <= middle);
            let (low, high) = cells.split_at_mut(split);
            let (smaller, larger) = if low.len() < high.len() { (low, high) } else { (high, low) };
            self.halve(smaller, some.clone(), places, inside);
            cells = larger;
        }
    }
}

/// Returns the first and last place of the cells, for each dimension.
fn hull(cells: &[u32], places: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let along = |places: &Vec<u32>| {
        let places = cells.iter().map(|cell| places[*cell as usize]);
        places.fold((u32::MAX, 0), |(first, last), place| (first.min(place), last.max(place)))
    };
    places.iter().map(along).collect()
}

//! Division of a box into boxes with a single owner.

use std::ops::Range;

/// Maximum number of entries of a grid.
pub(crate) const GRID_ENTRIES: usize = 1 << 18;

/// A box, cut along all dimensions into entries. Each entry has an owner.
pub(crate) struct Grid<'a> {
    cuts: &'a [Vec<u128>],
    /// Owner of each entry, in row-major order. [`TAKEN`] after the entry was emitted.
    owners: Vec<usize>,
}

const TAKEN: usize = usize::MAX;

impl<'a> Grid<'a> {
    /// Creates a grid from the ascending cuts along each dimension, both ends of the box included,
    /// and the owner of each entry, in row-major order.
    pub(crate) fn new(cuts: &'a [Vec<u128>], owners: Vec<usize>) -> Self {
        Self { cuts, owners }
    }

    fn len(&self, dimension: usize) -> usize {
        self.cuts[dimension].len() - 1
    }

    /// Changes the owner of a part of the box.
    pub(crate) fn paint(&mut self, bounds: &[Range<u128>], owner: usize) {
        let window: Vec<Range<usize>> = bounds
            .iter()
            .zip(self.cuts)
            .map(|(bounds, cuts)| {
                let start = cuts.partition_point(|cut| *cut < bounds.start);
                let end = cuts.partition_point(|cut| *cut < bounds.end).min(cuts.len() - 1);
                start..end
            })
            .collect();
        self.rows(&window, |row| row.fill(owner));
    }

    /// Calls `each` with every row, along the last dimension, of a part of the grid.
    fn rows(&mut self, window: &[Range<usize>], mut each: impl FnMut(&mut [usize])) {
        let Some((last, outer)) = window.split_last() else { return each(&mut self.owners) };
        if window.iter().any(Range::is_empty) {
            return;
        }
        let mut at: Vec<usize> = outer.iter().map(|range| range.start).collect();
        loop {
            let row = at.iter().enumerate().fold(0, |row, (dimension, at)| row * self.len(dimension) + at);
            let start = row * self.len(outer.len());
            each(&mut self.owners[start + last.start..start + last.end]);
            let Some(next) = (0..at.len()).rev().find(|&dimension| at[dimension] + 1 < outer[dimension].end) else {
                return;
            };
            at[next] += 1;
            for dimension in next + 1..at.len() {
                at[dimension] = outer[dimension].start;
            }
        }
    }

    /// Emits the grid as boxes with a single owner. Each box begins with one entry and grows as far
    /// as possible.
    pub(crate) fn boxes(mut self, mut each: impl FnMut(usize, Vec<Range<u128>>)) {
        for start in 0..self.owners.len() {
            let owner = self.owners[start];
            if owner == TAKEN {
                continue;
            }
            let mut window = vec![0..0; self.cuts.len()];
            let mut rest = start;
            for dimension in (0..window.len()).rev() {
                let at = rest % self.len(dimension);
                rest /= self.len(dimension);
                window[dimension] = at..at + 1;
            }
            for dimension in (0..window.len()).rev() {
                self.grow(&mut window, dimension, owner);
            }
            self.rows(&window, |row| row.fill(TAKEN));
            let bounds = window.iter().zip(self.cuts).map(|(range, cuts)| cuts[range.start]..cuts[range.end]);
            each(owner, bounds.collect());
        }
    }

    fn grow(&mut self, window: &mut [Range<usize>], dimension: usize, owner: usize) {
        while window[dimension].end < self.len(dimension) {
            let mut next = window.to_vec();
            next[dimension] = window[dimension].end..window[dimension].end + 1;
            let mut same = true;
            self.rows(&next, |row| same &= row.iter().all(|other| *other == owner));
            if !same {
                return;
            }
            window[dimension].end += 1;
        }
    }
}

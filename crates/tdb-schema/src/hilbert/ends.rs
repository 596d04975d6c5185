//! Bounds for the Hilbert values of a subarray.

use super::block::MOST_DIMENSIONS;
use super::transform;
use super::{CoordinateColumn, HilbertCurve};

/// The maximum number of orthants to examine per level. In many dimensions a box overlaps a large
/// number of orthants.
const MOST_ORTHANTS: usize = 256;

impl HilbertCurve {
    /// Returns bounds for the Hilbert values of all cells in a subarray.
    ///
    /// The bounds are usually the minimum and maximum value in the subarray. `corners` has a column
    /// of keys or strings per dimension, with the lowest and the highest coordinate. Returns `(0,
    /// u64::MAX)` if `corners` has another shape or the curve does not contain a corner.
    #[must_use]
    pub fn ends(&self, corners: &[CoordinateColumn<'_>]) -> (u64, u64) {
        const ALL: (u64, u64) = (0, u64::MAX);
        let (mut low, mut high) = ([0; MOST_DIMENSIONS], [0; MOST_DIMENSIONS]);
        if corners.len() != self.axes.len() {
            return ALL;
        }
        for (index, (axis, column)) in self.axes.iter().zip(corners).enumerate() {
            match axis.range(column) {
                // Buckets of more than `bits` bits are not on the curve.
                Some((from, to)) if from <= to && to >> self.bits == 0 => (low[index], high[index]) = (from, to),
                _ => return ALL,
            }
        }
        let place = Box { low: &low[..corners.len()], high: &high[..corners.len()], bits: self.bits };
        (place.end(false), place.end(true))
    }
}

/// A box of buckets.
///
/// At each level, the curve divides the space of buckets into cubes. The buckets of a cube have the
/// same highest `level` bits. A cube consists of orthants, the cubes of the next level. `prefix`
/// holds the highest bits of a cube, and `value` is the position of the cube along the curve.
#[derive(Clone, Copy, Debug)]
struct Box<'a> {
    low: &'a [u64],
    high: &'a [u64],
    bits: u32,
}

impl Box<'_> {
    /// Returns the first position along the curve in the box, or the last position if `last` is
    /// `true`. Returns a lower or upper bound of the position if too many orthants overlap the box.
    ///
    /// The curve visits all buckets of an orthant before it enters the next orthant, recursively.
    /// The first position is therefore in the first orthant that overlaps the box.
    fn end(&self, last: bool) -> u64 {
        let mut prefix = [0; MOST_DIMENSIONS];
        let prefix = &mut prefix[..self.low.len()];
        let mut value = 0;
        for level in 1..=self.bits {
            let rest = self.bits - level;
            let Some((next, found)) = self.next(prefix, level, last) else {
                return self.fill(value, rest + 1, last);
            };
            prefix.copy_from_slice(&next[..prefix.len()]);
            value = found;
            if self.covers(prefix, rest) {
                return self.fill(value, rest, last);
            }
        }
        value
    }

    /// Returns the first or last orthant of the cube `prefix` that overlaps the box, and its
    /// position along the curve.
    ///
    /// Returns `None` if too many orthants overlap the box.
    fn next(&self, prefix: &[u64], level: u32, last: bool) -> Option<([u64; MOST_DIMENSIONS], u64)> {
        let rest = self.bits - level;
        let dimensions = prefix.len();
        // Along each dimension, the box overlaps the lower half, the upper half, or both.
        let reaches = |axis: usize, half: u64| {
            let start = (prefix[axis] << 1 | half) << rest;
            start <= self.high[axis] && self.low[axis] <= start | ((1 << rest) - 1)
        };
        let open: Vec<usize> = (0..dimensions).filter(|axis| reaches(*axis, 0) && reaches(*axis, 1)).collect();
        if open.len() > MOST_ORTHANTS.ilog2() as usize {
            return None;
        }
        let orthants = (0..1_u32 << open.len()).map(|choice| {
            let mut orthant = [0; MOST_DIMENSIONS];
            for (axis, prefix) in prefix.iter().enumerate() {
                let half = match open.iter().position(|other| *other == axis) {
                    Some(place) => u64::from(choice >> place & 1),
                    None => u64::from(!reaches(axis, 0)),
                };
                orthant[axis] = prefix << 1 | half;
            }
            let mut axes = orthant;
            (orthant, transform::value(&mut axes[..dimensions], level))
        });
        if last { orthants.max_by_key(|(_, value)| *value) } else { orthants.min_by_key(|(_, value)| *value) }
    }

    /// Returns `true` if the box contains the whole cube.
    fn covers(&self, prefix: &[u64], rest: u32) -> bool {
        let ends = self.low.iter().zip(self.high);
        prefix.iter().zip(ends).all(|(prefix, (low, high))| {
            let start = prefix << rest;
            *low <= start && start | ((1 << rest) - 1) <= *high
        })
    }

    /// Returns the first or last position along the curve in the cube at position `value`, which
    /// has `rest` further bits per dimension.
    fn fill(&self, value: u64, rest: u32, last: bool) -> u64 {
        let bits = rest * u32::try_from(self.low.len()).unwrap_or(u32::MAX);
        (value << bits) | if last { (1 << bits) - 1 } else { 0 }
    }
}

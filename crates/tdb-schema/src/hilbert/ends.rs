//! Between which positions along the curve a box lies.

use super::block::MOST_DIMENSIONS;
use super::transform;
use super::{CoordinateColumn, HilbertCurve};

/// Orthants that are looked at in one cell of the curve: in many dimensions a box reaches into very many.
const MOST_ORTHANTS: usize = 256;

impl HilbertCurve {
    /// Hilbert values between which those of all cells in a box lie: mostly the least and the greatest one of a place in the
    /// box. `corners` has a column per dimension, with the box's lowest and its highest coordinate.
    ///
    /// Columns that aren't so give the whole curve.
    #[must_use]
    pub fn ends(&self, corners: &[CoordinateColumn<'_>]) -> (u64, u64) {
        const ALL: (u64, u64) = (0, u64::MAX);
        let (mut low, mut high) = ([0; MOST_DIMENSIONS], [0; MOST_DIMENSIONS]);
        if corners.len() != self.axes.len() {
            return ALL;
        }
        for (index, (axis, column)) in self.axes.iter().zip(corners).enumerate() {
            match axis.range(column) {
                // Buckets with more bits than a bucket should have lie on no curve.
                Some((from, to)) if from <= to && to >> self.bits == 0 => (low[index], high[index]) = (from, to),
                _ => return ALL,
            }
        }
        let place = Box { low: &low[..corners.len()], high: &high[..corners.len()], bits: self.bits };
        (place.end(false), place.end(true))
    }
}

/// A box of buckets.
#[derive(Clone, Copy, Debug)]
struct Box<'a> {
    low: &'a [u64],
    high: &'a [u64],
    bits: u32,
}

impl Box<'_> {
    /// The first or the last position along the curve that lies in the box, or one before or after it.
    ///
    /// The curve goes through all of an orthant before it enters the next one, and within each of them likewise: of those
    /// that the box reaches into, the first one has the first position.
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

    /// Of the orthants of a cell of the curve that the box reaches into, the first or the last one, and its position; none
    /// if they are too many.
    fn next(&self, prefix: &[u64], level: u32, last: bool) -> Option<([u64; MOST_DIMENSIONS], u64)> {
        let rest = self.bits - level;
        let dimensions = prefix.len();
        // Along each dimension the lower half, the upper half, or both.
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

    /// Whether the box has all of a cell of the curve.
    fn covers(&self, prefix: &[u64], rest: u32) -> bool {
        let ends = self.low.iter().zip(self.high);
        prefix.iter().zip(ends).all(|(prefix, (low, high))| {
            let start = prefix << rest;
            *low <= start && start | ((1 << rest) - 1) <= *high
        })
    }

    /// The first or the last position in a cell of the curve, whose own position is given.
    fn fill(&self, value: u64, rest: u32, last: bool) -> u64 {
        let bits = rest * u32::try_from(self.low.len()).unwrap_or(u32::MAX);
        (value << bits) | if last { (1 << bits) - 1 } else { 0 }
    }
}

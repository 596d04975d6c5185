//! What a step of fragments may be like.

use super::facts::Facts;

/// How to choose runs of fragments that follow each other in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// How many fragments a run has at least, if there are as many; all without it, or groups of dense ones.
    pub(super) min: Option<usize>,
    /// How many it has at most.
    pub(super) max: usize,
    /// The smaller of two neighbours has at least this part of the size of the other.
    pub(super) size_ratio: f32,
    /// How many times as many cells the box around a run may have as the tiles of its fragments; dense arrays only.
    pub(super) amplification: f64,
}

impl Choice {
    /// Whether the smaller of two neighbours is large enough.
    #[allow(clippy::cast_precision_loss)] // as the reference library reckons
    pub(super) fn have_sizes(&self, one: &Facts, other: &Facts) -> bool {
        let (a, b) = (one.bytes as f32, other.bytes as f32);
        a.min(b) / a.max(b).max(1.0) >= self.size_ratio
    }
}

/// How many times as many.
#[allow(clippy::cast_precision_loss)] // as the reference library reckons
pub(super) fn factor(cells: u128, of: u128) -> f64 {
    cells as f64 / of.max(1) as f64
}

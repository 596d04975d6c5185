//! Limits for the choice of fragments in a step.

use super::facts::Facts;

/// Limits for a run, which consists of consecutive fragments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Minimum number of fragments in a run, or all fragments if fewer exist. If `None`, a run has
    /// all fragments, and dense fragments can instead be divided into groups.
    pub(super) min: Option<usize>,
    /// Maximum number of fragments in a run.
    pub(super) max: usize,
    /// Minimum ratio between the sizes of two consecutive fragments, the smaller size divided by
    /// the larger size.
    pub(super) size_ratio: f32,
    /// Maximum number of cells in the MBR of a run, as a multiple of the number of cells in the
    /// fragments' tiles. Applies only to dense arrays.
    pub(super) amplification: f64,
}

impl Choice {
    /// Returns `true` if the size ratio of two consecutive fragments is large enough.
    #[allow(clippy::cast_precision_loss)] // computed as in the reference library
    pub(super) fn have_sizes(&self, one: &Facts, other: &Facts) -> bool {
        let (a, b) = (one.bytes as f32, other.bytes as f32);
        a.min(b) / a.max(b).max(1.0) >= self.size_ratio
    }
}

/// Returns the ratio of two numbers of cells.
#[allow(clippy::cast_precision_loss)] // computed as in the reference library
pub(super) fn factor(cells: u128, of: u128) -> f64 {
    cells as f64 / of.max(1) as f64
}

//! Limits of one step.

use super::facts::Facts;

/// Limits for a run of consecutive fragments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Minimum number of fragments in a run, if enough exist. With `None`, a run has all fragments,
    /// or dense fragments are grouped.
    pub(super) min: Option<usize>,
    /// Maximum number of fragments in a run.
    pub(super) max: usize,
    /// Minimum size ratio of two consecutive fragments, smaller to larger.
    pub(super) size_ratio: f32,
    /// Maximum number of cells in the MBR of a run, as a multiple of the cells of the fragments'
    /// tiles. Dense arrays only.
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

//! Number of cells of a region.

use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{ArrayError, Result};

/// Returns the number of cells of a region, or 0 if it has a string dimension. Saturates at the
/// maximum of `u128`.
pub fn cells_in(region: &NdRange) -> u128 {
    let along = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => u128::from(hi - lo) + 1,
        DimRange::Var { .. } => 0,
    };
    region.0.iter().map(along).fold(1, u128::saturating_mul)
}

/// Checks that the number of given cells is the number of cells of the region.
pub(super) fn check_count(region: &NdRange, found: u128) -> Result<()> {
    let expected = cells_in(region);
    if found == expected {
        return Ok(());
    }
    Err(ArrayError::Write(format!("found {found} cells, expected {expected} for the ranges")))
}

//! How many cells a region has.

use tdb_rtree::{DimRange, NdRange};
use tdb_snapshot::{ArrayError, Result};

/// How many cells a region has.
pub fn cells_in(region: &NdRange) -> u128 {
    let along = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => u128::from(hi - lo) + 1,
        DimRange::Var { .. } => 0,
    };
    region.0.iter().map(along).fold(1, u128::saturating_mul)
}

/// Each cell of the region has to be there.
pub(super) fn check_count(region: &NdRange, found: u128) -> Result<()> {
    let expected = cells_in(region);
    if found == expected {
        return Ok(());
    }
    Err(ArrayError::Write(format!("{found} cells were given for ranges that have {expected}")))
}

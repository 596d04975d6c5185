//! Cells counted from the low end of the domain.

use std::ops::Range;

use tdb_rtree::DimRange;
use tdb_schema::ArraySchema;

/// Returns the keys of the low ends of the domain.
pub(super) fn lows(schema: &ArraySchema) -> Vec<u64> {
    schema.dimensions().iter().map(|dimension| dimension.domain_keys().unwrap_or_default().0).collect()
}

/// Returns the cells of a range along a dimension, counted from the low end of the domain.
pub(super) fn cells(range: &DimRange, low: u64) -> Range<u128> {
    match *range {
        DimRange::Fixed { lo, hi } => u128::from(lo.saturating_sub(low))..u128::from(hi.saturating_sub(low)) + 1,
        DimRange::Var { .. } => 0..0,
    }
}

//! Differences between releases in the order of cells.

use tdb_types::{ArrayType, Layout};

use crate::scalars::integer_of;
use tdb_reference::Release;
use tdb_reference::model::{ArraySpec, DimensionSpec};

/// `true` if the release has another global order for this array, see
/// `docs/reference/format-notes.md`.
pub fn orders_otherwise(array: &ArraySpec, release: Release) -> bool {
    let mut numbers = array.dimensions.iter().filter(|dimension| dimension.domain.is_some());
    if array.array_type == ArrayType::Dense {
        return false;
    }
    if array.cell_order == Layout::Hilbert {
        let open = release.numbers() < [2, 3, 0];
        let strings = array.dimensions.iter().any(|dimension| dimension.domain.is_none());
        let loose = release.numbers() >= [2, 7, 0] && release.numbers() < [2, 9, 0];
        return (open && numbers.any(|dimension| !dimension.datatype.is_float())) || (loose && strings);
    }
    numbers.any(|dimension| has_other_tiles(dimension, release))
}

fn has_other_tiles(dimension: &DimensionSpec, release: Release) -> bool {
    let physical = dimension.datatype.physical();
    if physical.is_float() {
        return release.numbers() < [2, 0, 0];
    }
    let Some((low, high)) = &dimension.domain else { return false };
    let (low, high) = (integer_of(physical, low), integer_of(physical, high));
    let greatest = (1_i128 << (8 * physical.size() - 1)) - 1;
    let wraps = release.numbers() < [2, 4, 0] && physical.is_signed_integer() && high - low > greatest;
    let is_promoted = release.numbers() >= [2, 3, 0] && release.numbers() < [2, 10, 0] && physical.size() < 4;
    wraps || (is_promoted && low < 0 && high >= 0)
}

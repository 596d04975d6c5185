//! Sizes of cells and tiles.

use tdb_array::tdb_fragment::FragmentField;
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::ArraySchema;

/// Returns the number of bytes per cell in the fixed-size file of a field: the size of the cell, or
/// of the offset if cells have variable length.
#[must_use]
pub fn fixed_size(schema: &ArraySchema, field: FragmentField) -> u64 {
    match field {
        FragmentField::Attribute(index) => schema.attributes()[index].cell_size().unwrap_or(8),
        FragmentField::Dimension(index) if schema.dimensions()[index].is_var() => 8,
        FragmentField::Dimension(index) => schema.dimensions()[index].datatype().size() as u64,
        FragmentField::Coordinates => schema.dimensions().iter().map(|side| side.datatype().size() as u64).sum(),
        _ => 8,
    }
}

/// Expands a subarray to whole tiles, even if the last tile extends beyond the domain.
#[must_use]
pub fn whole_tiles(schema: &ArraySchema, domain: &NdRange) -> NdRange {
    let along = schema.dimensions().iter().zip(&domain.0).map(|(dimension, range)| {
        let (DimRange::Fixed { lo, hi }, Some((low, _)), Some(extent)) =
            (range, dimension.domain_keys(), dimension.extent_cells())
        else {
            return range.clone();
        };
        let before = |key: u64| key.saturating_sub(low) % extent.max(1);
        let last = extent.max(1) - 1;
        DimRange::Fixed { lo: lo.saturating_sub(before(*lo)), hi: hi.saturating_add(last - before(*hi)) }
    });
    NdRange(along.collect())
}

/// Returns the number of cells of a subarray, or 0 if it has a string dimension.
#[must_use]
pub fn cells_in(domain: &NdRange) -> u128 {
    let along = |range: &DimRange| match range {
        DimRange::Fixed { lo, hi } => u128::from(hi.saturating_sub(*lo)) + 1,
        DimRange::Var { .. } => 0,
    };
    domain.0.iter().map(along).fold(1, u128::saturating_mul)
}

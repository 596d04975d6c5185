//! The order in which the writers of each format version stored cells.
//!
//! Writers of several format versions computed a global order that differs from today's.
//! `docs/reference/format-notes.md` describes the differences. The format version of a fragment and
//! the schema determine whether a difference is possible.

use tdb_schema::{ArraySchema, Dimension};
use tdb_types::{Feature, FormatVersion, Layout, PhysicalType};

/// Returns `true` if cells in a fragment of this version may be in another order than today's
/// global order.
pub fn may_differ(schema: &ArraySchema, version: FormatVersion) -> bool {
    let (strings, numbers): (Vec<_>, Vec<_>) = schema.dimensions().iter().partition(|dimension| dimension.is_var());
    let mut numbers = numbers.into_iter();
    if schema.cell_order() == Layout::Hilbert {
        return version.has(Feature::OpenHilbertRange) && numbers.any(|dimension| !dimension.physical().is_float())
            || version.has(Feature::OtherHilbertStrings) && !strings.is_empty();
    }
    numbers.any(|dimension| has_other_tiles(dimension, version))
}

/// Returns `true` if coordinates along the dimension may have been sorted into wrong space tiles.
fn has_other_tiles(dimension: &Dimension, version: FormatVersion) -> bool {
    let physical = dimension.physical();
    if physical.is_float() {
        return version.has(Feature::UntruncatedFloatTiles);
    }
    let Some((low, high)) = dimension.domain().filter(|_| physical.is_signed_integer()) else { return false };
    let (Some(low), Some(high), Some(greatest)) = (low.to_integer(), high.to_integer(), physical.max_integer()) else {
        return false;
    };
    let is_narrow = matches!(physical, PhysicalType::I8 | PhysicalType::I16);
    (version.has(Feature::WrappedTileIndices) && high.saturating_sub(low) > greatest.into())
        || (version.has(Feature::PromotedTileIndices) && is_narrow && low < 0 && high >= 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tdb_schema::{Dimension, SchemaBuilder};
    use tdb_types::{Datatype, FormatVersion, Layout, Scalar};

    use super::may_differ;

    /// Returns the versions with a possibly different order of cells along a dimension of this
    /// kind.
    fn differing(datatype: Datatype, low: Scalar, high: Scalar, order: Layout) -> Vec<u32> {
        let dimension = Dimension::new("d", low..=high).with_datatype(datatype);
        let schema = SchemaBuilder::sparse().cell_order(order).dimension(dimension).build().unwrap();
        FormatVersion::all().filter(|version| may_differ(&schema, *version)).map(FormatVersion::number).collect()
    }

    #[test]
    fn orders_of_old_writers() {
        let row = Layout::RowMajor;
        let none: [u32; 0] = [];
        let i32s = |low, high, order| differing(Datatype::Int32, Scalar::I32(low), Scalar::I32(high), order);
        assert_eq!(i32s(-5, 5, row), none);
        assert_eq!(i32s(-2_000_000_000, 2_000_000_000, row), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(i32s(-5, 5, Layout::Hilbert), [7, 8]);
        let strings = Dimension::string("d");
        let schema = SchemaBuilder::sparse().cell_order(Layout::Hilbert).dimension(strings).build().unwrap();
        let versions = FormatVersion::all().filter(|version| may_differ(&schema, *version));
        assert_eq!(versions.map(FormatVersion::number).collect::<Vec<_>>(), [11, 12]);
        let i8s = |low, high| differing(Datatype::Int8, Scalar::I8(low), Scalar::I8(high), row);
        assert_eq!(i8s(-10, 9), [9, 10, 11, 12, 13]);
        assert_eq!(i8s(-10, -1), none);
        assert_eq!(i8s(0, 9), none);
        let floats = |order| differing(Datatype::Float32, Scalar::F32(0.0), Scalar::F32(1.0), order);
        assert_eq!(floats(row), [1, 2, 3, 4]);
        assert_eq!(floats(Layout::Hilbert), none);
        let whole = differing(Datatype::UInt64, Scalar::U64(0), Scalar::U64(u64::MAX - 1), row);
        assert_eq!(whole, none);
    }
}

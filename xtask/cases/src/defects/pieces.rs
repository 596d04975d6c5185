//! Dense reads of coordinates whose ranges have more pieces than the datatype of a dimension can
//! count.

use tdb_types::ArrayType;

use crate::case::{Case, Question};
use crate::scalars::{integer_of, type_limits};
use tdb_reference::model::{Bytes, DimensionSpec};

/// Detects ranges with too many pieces. The library splits ranges at tile boundaries and counts the
/// pieces in the datatype of the dimension. If the count overflows, the read of coordinates ends
/// early, and cells lack coordinates.
pub fn miscounts(case: &Case, question: &Question) -> Option<&'static str> {
    let query = &question.query;
    let gives_coordinates = case.array.dimension_names().any(|name| query.fields.iter().any(|field| field == name));
    let is_too_many = |dimension: &DimensionSpec| {
        let physical = dimension.datatype.physical();
        let ranges = query.ranges.iter().filter(|ranges| ranges.dimension == dimension.name);
        let ranges: Vec<&(Bytes, Bytes)> = ranges.flat_map(|ranges| &ranges.ranges).collect();
        let domain = dimension.domain.iter();
        let asked = if ranges.is_empty() { domain.collect() } else { ranges };
        pieces(dimension, &asked).is_some_and(|pieces| pieces > type_limits(physical).1)
    };
    let is_dense = case.array.array_type == ArrayType::Dense;
    (is_dense && gives_coordinates && case.array.dimensions.iter().any(is_too_many))
        .then_some("counts pieces of ranges in the datatype of a dense dimension, and loses coordinates")
}

/// Returns the number of pieces of all ranges.
fn pieces(dimension: &DimensionSpec, ranges: &[&(Bytes, Bytes)]) -> Option<i128> {
    let integer = |bytes: &Bytes| integer_of(dimension.datatype.physical(), bytes);
    let (start, extent) = (integer(&dimension.domain.as_ref()?.0), integer(dimension.extent.as_ref()?));
    let tile = |bytes: &Bytes| (integer(bytes) - start) / extent;
    Some(ranges.iter().map(|(low, high)| tile(high) - tile(low) + 1).sum())
}

#[cfg(test)]
mod tests {
    use super::pieces;
    use tdb_reference::model::{bytes_of, dimension};
    use tdb_types::Datatype;

    #[test]
    fn ranges_are_split_at_tile_ends() {
        let dimension = dimension("d", Datatype::Int8, [-3i8, 90], 5);
        let range = |low: i8, high: i8| (bytes_of([low]), bytes_of([high]));
        assert_eq!(pieces(&dimension, &[&range(-3, 1)]), Some(1));
        assert_eq!(pieces(&dimension, &[&range(1, 2), &range(-3, 12)]), Some(2 + 4));
    }
}

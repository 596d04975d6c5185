//! Dense arrays whose last tile ends at or beyond the end of the datatype.
//!
//! The library creates these arrays, but can neither read nor write cells of the last tile.
//! Coordinates wrap around, and the library crashes or never terminates. The expected cells come
//! from a wide array by the library, with the same cells at 64-bit coordinates from 0 on.

use tdb_types::{ArrayType, Datatype};

use super::case::{Case, Question, Step};
use super::place::Place;
use super::writer::make;
use crate::scalars::{integer_bytes, integer_of, type_limits};
use tdb_reference::model::{ArraySpec, Bytes, DimensionSpec, Pipeline, ReadResult};
use tdb_reference::{Reference, Result};

/// A wide array with the same cells, written by the library.
pub struct WideArray {
    pub case: Case,
    pub uri: String,
}

/// The tiles of an integer dimension.
struct Tiles {
    /// First coordinate of the last tile.
    last: i128,
    /// Number of coordinates of all tiles.
    span: i128,
    high: i128,
    /// `true` if the tiles end at or beyond the end of the datatype.
    is_beyond: bool,
}

impl Tiles {
    fn of(dimension: &DimensionSpec) -> Option<Self> {
        let physical = dimension.datatype.physical();
        let (low, high) = dimension.domain.as_ref().filter(|_| !physical.is_float())?;
        let (low, high) = (integer_of(physical, low), integer_of(physical, high));
        let extent = integer_of(physical, dimension.extent.as_ref()?);
        let span = (high - low + extent) / extent * extent;
        let is_beyond = low + span > type_limits(physical).1;
        Some(Self { last: low + span - extent, span, high, is_beyond })
    }
}

/// `true` if the last tile of a dense array ends at or beyond the end of the datatype along some
/// dimension.
pub fn is_beyond(array: &ArraySpec) -> bool {
    let mut tiles = array.dimensions.iter().filter_map(Tiles::of);
    array.array_type == ArrayType::Dense && tiles.any(|tiles| tiles.is_beyond)
}

/// `true` if a subarray touches such a tile. `high` returns the subarray's maximum coordinate along
/// a dimension.
fn touches(array: &ArraySpec, high: impl Fn(usize, &Tiles) -> i128) -> bool {
    let mut dimensions = array.dimensions.iter().enumerate();
    array.array_type == ArrayType::Dense
        && dimensions.any(|(index, dimension)| {
            Tiles::of(dimension).is_some_and(|tiles| tiles.is_beyond && high(index, &tiles) >= tiles.last)
        })
}

/// `true` if cells are written in such a tile.
pub fn is_written(case: &Case) -> bool {
    let array = &case.array;
    case.writes().any(|write| {
        touches(array, |index, tiles| match &write.subarray {
            Some(ranges) => integer_of(array.dimensions[index].datatype.physical(), &ranges[index].1),
            None => tiles.high,
        })
    })
}

/// `true` if the library can read the cells of a question.
pub fn is_read(case: &Case, question: &Question) -> bool {
    let array = &case.array;
    let highest = |index: usize, tiles: &Tiles| {
        let dimension = &array.dimensions[index];
        let integer = |bytes: &Bytes| integer_of(dimension.datatype.physical(), bytes);
        let asked = question.query.ranges.iter().filter(|ranges| ranges.dimension == dimension.name);
        let asked = asked.flat_map(|ranges| &ranges.ranges).map(|(_, high)| integer(high)).max();
        let current = array.current_domain.as_ref().map(|ranges| integer(&ranges[index].1));
        asked.or(current).unwrap_or(tiles.high)
    };
    // If all tiles together have more coordinates than the datatype, the library computes a
    // negative tile count for fragments with cells in such a tile.
    let is_counted = |dimension: &DimensionSpec| {
        Tiles::of(dimension).is_none_or(|tiles| tiles.span <= 1 << (8 * dimension.datatype.size()))
    };
    !touches(array, highest) && (!is_written(case) || array.dimensions.iter().all(is_counted))
}

/// Creates the wide array of a case with the library. Returns `None` if the case does not need a
/// wide array.
///
/// # Errors
/// Fails if the library fails.
pub fn wide_array(case: &Case, reference: &mut Reference, place: &Place) -> Result<Option<WideArray>> {
    if !is_beyond(&case.array) {
        return Ok(None);
    }
    let wide = WideArray { case: widened(case), uri: place.uri("wide") };
    make(&wide.case, reference, &wide.uri)?;
    Ok(Some(wide))
}

/// Returns a dimension's minimum coordinate.
fn low(dimension: &DimensionSpec) -> i128 {
    dimension.domain.as_ref().map_or(0, |(low, _)| integer_of(dimension.datatype.physical(), low))
}

/// Returns the case with 64-bit coordinates that count from 0.
fn widened(case: &Case) -> Case {
    let mut wide = case.clone();
    let dimensions = &case.array.dimensions;
    let widen = |index: usize, bytes: &mut Bytes| {
        let value = integer_of(dimensions[index].datatype.physical(), bytes) - low(&dimensions[index]);
        *bytes = integer_bytes(Datatype::Int64.physical(), value);
    };
    let widen_range = |(index, (low, high)): (usize, &mut (Bytes, Bytes))| {
        widen(index, low);
        widen(index, high);
    };
    let widen_all = |ranges: &mut Vec<(Bytes, Bytes)>| ranges.iter_mut().enumerate().for_each(widen_range);
    for (index, dimension) in wide.array.dimensions.iter_mut().enumerate() {
        dimension.domain.iter_mut().for_each(|domain| widen_range((index, domain)));
        let extent = dimension.extent.as_ref().map(|extent| integer_of(dimension.datatype.physical(), extent));
        dimension.extent = extent.map(|extent| integer_bytes(Datatype::Int64.physical(), extent));
        dimension.datatype = Datatype::Int64;
        // The wide array does not need coordinate filters.
        dimension.filters = Pipeline::default();
    }
    wide.array.coords_filters = None;
    wide.array.current_domain.iter_mut().for_each(widen_all);
    for step in &mut wide.steps {
        match step {
            Step::Write(write) => write.subarray.iter_mut().for_each(widen_all),
            Step::Evolve(evolution) => evolution.expand_current_domain.iter_mut().for_each(widen_all),
            _ => {}
        }
    }
    for ranges in wide.questions.iter_mut().flat_map(|question| &mut question.query.ranges) {
        let index = case.array.dimensions.iter().position(|dimension| dimension.name == ranges.dimension);
        if let Some(index) = index {
            ranges.ranges.iter_mut().for_each(|range| widen_range((index, range)));
        }
    }
    wide
}

/// Converts the coordinates of a result from the wide array back to those of the case.
pub fn narrowed(case: &Case, mut result: ReadResult) -> ReadResult {
    for column in &mut result.columns {
        let Some(dimension) = case.array.dimension(&column.column.name) else { continue };
        let physical = dimension.datatype.physical();
        let value = |cell: &[u8]| integer_of(Datatype::Int64.physical(), cell) + low(dimension);
        let cells = column.column.values.chunks(8).flat_map(|cell| integer_bytes(physical, value(cell)).0);
        (column.datatype, column.column.values) = (dimension.datatype, Bytes(cells.collect()));
    }
    result
}

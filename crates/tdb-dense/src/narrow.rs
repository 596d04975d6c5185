//! Restriction of a query to cells that may match, if unwritten cells cannot match.
//!
//! A domain may have many more cells than were written. If the query returns matching cells only,
//! and fill values do not match, the unwritten cells need no visit. The non-empty domains of the
//! fragments contain all written cells. Tiles that fragment metadata rules out need no visit either.

use std::ops::Range;
use std::sync::Arc;

use tdb_cells::Order;
use tdb_query::{CheckedQuery, with_fill_values};
use tdb_rtree::{Boxes, DimRange};
use tdb_schema::FieldRef;
use tdb_snapshot::{ArrayError, Result};

use crate::domain_cells::{cells, lows};
use crate::layers::Layers;
use crate::shape::{Shape, volume};
use crate::survivors::Survivors;

/// Maximum number of boxes to compute, which takes a fraction of a second.
const MOST_BOXES: usize = 1 << 16;

/// Returns `true` if unwritten cells are in the result, `false` if not, and `None` if this depends
/// on the coordinates.
pub(super) fn unwritten_pass(query: &CheckedQuery) -> Option<bool> {
    let Some(filter) = query.filter.as_deref().filter(|_| query.only_matching) else { return Some(true) };
    let schema = query.array.schema();
    with_fill_values(filter, schema, |field| matches!(field, FieldRef::Attribute(_))).constant()
}

/// Restricts the query to the bounding box of all written cells, if unwritten cells cannot be in
/// the result.
pub(super) fn within_hull(mut query: CheckedQuery, layers: &Layers) -> CheckedQuery {
    if unwritten_pass(&query) != Some(false) {
        return query;
    }
    let lows = lows(query.array.schema());
    let sides = lows.iter().enumerate().map(|(dimension, low)| {
        let bounds = (0..layers.len()).map(|layer| layers.get(layer).bounds[dimension].clone());
        let bounds = bounds.filter(|bounds| !bounds.is_empty());
        let hull = bounds.reduce(|hull, bounds| hull.start.min(bounds.start)..hull.end.max(bounds.end));
        hull.map(|hull| keys(&hull, *low)).into_iter().collect()
    });
    let sides: Vec<Vec<DimRange>> = sides.collect();
    query.region.intersect(&sides);
    query
}

/// Restricts the query to boxes around the tiles of fragments that may hold a matching cell.
/// Returns `None` if unwritten cells may be in the result, if the boxes are not much smaller than
/// the query, or if there are too many boxes.
///
/// # Errors
/// The fragments of the array cannot be read.
pub(super) fn within_survivors(query: &CheckedQuery, layers: &Layers, shape: &Shape) -> Result<Option<CheckedQuery>> {
    let Some(condition) = query.filter.as_deref().filter(|_| unwritten_pass(query) == Some(false)) else {
        return Ok(None);
    };
    let mut survivors = Survivors::new((&query.array, condition), layers, shape, MOST_BOXES);
    let Some(boxes) = matching_boxes(query, layers, &mut survivors)? else { return Ok(None) };
    let mut query = query.clone();
    if let [_] = &boxes[..] {
        // In one dimension, boxes are ranges.
        query.region.intersect(&boxes);
    } else {
        let kinds = query.array.schema().domain().kinds();
        let boxes = Boxes::new(&kinds, &boxes).map_err(|error| ArrayError::Query(error.to_string()))?;
        query.boxes = Some(Arc::new(boxes));
    }
    Ok(Some(query))
}

/// Returns the intersections of the surviving tiles with the requested boxes or region, by
/// dimension. Returns `None` if the intersections are not much smaller than the query, or if there
/// are too many boxes.
fn matching_boxes(
    query: &CheckedQuery,
    layers: &Layers,
    survivors: &mut Survivors<'_>,
) -> Result<Option<Vec<Vec<DimRange>>>> {
    let lows = lows(query.array.schema());
    let sides: Vec<Vec<Range<u128>>> = query
        .region
        .ranges()
        .iter()
        .zip(&lows)
        .map(|(ranges, low)| ranges.iter().map(|range| cells(range, *low)).collect())
        .collect();
    let hull: Option<Vec<Range<u128>>> = sides.iter().map(|side| Some(side.first()?.start..side.last()?.end)).collect();
    let Some(hull) = hull else { return Ok(None) };
    let asked: Option<Vec<Vec<Range<u128>>>> = match query.boxes.as_deref() {
        None => Some(vec![hull.clone()]),
        Some(boxes) if boxes.len() <= MOST_BOXES => {
            let side = |(dimension, low): (usize, &u64), number| Some(cells(&boxes.range(dimension, number)?, *low));
            let sides = |number| lows.iter().enumerate().map(|place| side(place, number)).collect();
            (0..boxes.len()).map(sides).collect()
        }
        Some(_) => None,
    };
    let Some(asked) = asked else { return Ok(None) };
    let asked: Vec<_> = asked.iter().filter_map(|own| common(own, &hull)).collect();
    let all = |boxes: &[Vec<Range<u128>>]| boxes.iter().map(|own| volume(own)).fold(0, u128::saturating_add);
    let lens = sides.iter().map(|side| side.iter().map(|cells| cells.end - cells.start).fold(0, u128::saturating_add));
    let cells = all(&asked).min(lens.fold(1, u128::saturating_mul));
    if cells < volume(&hull) / 2 {
        // Most tiles of the hull are not requested.
        survivors.left = 0;
    }
    let mut written = Vec::new();
    for layer in layers.within(&hull) {
        let Some(bounds) = common(&layers.get(layer).bounds, &hull) else { continue };
        let tiles = survivors.within(layer, bounds)?;
        if asked.len().saturating_mul(tiles.len()).saturating_add(written.len()) > MOST_BOXES {
            return Ok(None);
        }
        written.extend(tiles.iter().flat_map(|tiles| asked.iter().filter_map(|own| common(own, tiles))));
    }
    // Rows of several boxes are read run by run, which takes more time per cell.
    let is_by_rows = matches!(query.order, Order::RowMajor | Order::ColMajor) && written.len() > 1;
    if all(&written) > cells / if is_by_rows { 8 } else { 2 } {
        return Ok(None);
    }
    let sides = lows.iter().enumerate();
    Ok(Some(sides.map(|(dimension, low)| written.iter().map(|own| keys(&own[dimension], *low)).collect()).collect()))
}

/// Returns the range of ordered keys of a range of cells. `cells` must not be empty.
fn keys(cells: &Range<u128>, low: u64) -> DimRange {
    let key = |cell: u128| low.saturating_add(u64::try_from(cell).unwrap_or(u64::MAX));
    DimRange::Fixed { lo: key(cells.start), hi: key(cells.end.saturating_sub(1)) }
}

/// Returns the intersection of two boxes, or `None` if the intersection is empty.
fn common(a: &[Range<u128>], b: &[Range<u128>]) -> Option<Vec<Range<u128>>> {
    let sides = a.iter().zip(b).map(|(a, b)| a.start.max(b.start)..a.end.min(b.end));
    let sides: Vec<_> = sides.collect();
    (!sides.iter().any(Range::is_empty)).then_some(sides)
}

#[cfg(test)]
mod tests;

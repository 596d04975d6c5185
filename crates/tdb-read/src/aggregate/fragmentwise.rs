//! Metadata-only statistics, fragment by fragment. Tiles are not examined if the query selects
//! whole fragments. Data files are never opened.

use std::ops::ControlFlow;

use tdb_fragment::Tiles;
use tdb_query::scan::KnownTile;
use tdb_query::{CheckedQuery, InexactReason, Relevant};
use tdb_rtree::{Coverage, DimRange, NdRange, RTreeError};
use tdb_schema::ArraySchema;
use tdb_snapshot::{ArrayError, Fragment, Result, Snapshot, prefetch, prefetch_totals};
use tdb_sparse::{each_pair, may_intersect};

use super::stating::Stating;

/// The maximum number of R-tree nodes compared to find overlapping fragments.
const MOST_COMPARISONS: u64 = 1 << 24;

/// The maximum number of fragment pairs compared, a fraction of a second.
const MOST_PAIRS: usize = 1 << 22;

/// A fragment with cells in the query's ranges.
struct Member<'a> {
    fragment: &'a Fragment,
    /// A box around all cells of the fragment.
    bounds: NdRange,
    /// `true` if the query selects all cells of the fragment.
    whole: bool,
}

/// Adds the metadata statistics for a query of a sparse array with ranges only. Marks all
/// statistics as unknown if metadata does not suffice.
///
/// # Errors
/// Metadata cannot be read, or contradicts the array's schema, or the query was cancelled.
pub(super) fn sparse(query: &CheckedQuery, stating: &mut Stating<'_>) -> Result<()> {
    let array = &query.array;
    let regions = query.region.ranges();
    let members = members(array, regions)?;
    let hides = !array.schema().allows_duplicates();
    for Member { fragment, .. } in &members {
        if let Some(why) = looked_at(array, fragment, hides)? {
            stating.end(why);
            return Ok(());
        }
    }
    let others: Vec<&Fragment> = members.iter().filter(|member| !member.whole).map(|member| member.fragment).collect();
    prefetch((&**array.storage(), array.workers()), array.schema(), &others, &[])?;
    if hides && members.len() > 1 && may_hide(array, &members, regions)? {
        stating.end(InexactReason::Overlap);
        return Ok(());
    }
    for Member { fragment, whole, .. } in &members {
        array.workers().check()?;
        let known = stating.known_of(fragment);
        if *whole {
            stating.add_fragment(&known, fragment.cell_count());
            continue;
        }
        for (tile, coverage) in tiles(array, fragment, regions)? {
            if coverage == Coverage::Partial {
                stating.end(InexactReason::PartOfTile);
                return Ok(());
            }
            let cells = fragment.cells_in_tile(tile).unwrap_or(0);
            stating.add_tile(&known, KnownTile { tile, cells, partly: true });
        }
    }
    Ok(())
}

/// Adds the metadata statistics for a query of a dense array. Returns `false` if fragments overlap,
/// are sparse, are selected in part, or are too many for a comparison.
///
/// # Errors
/// The same as [`sparse`].
pub(super) fn dense(query: &CheckedQuery, stating: &mut Stating<'_>) -> Result<bool> {
    let array = &query.array;
    let members = members(array, query.region.ranges())?;
    let is_box = |member: &Member<'_>| member.whole && matches!(member.fragment.footer().tiles(), Tiles::Dense(_));
    if !members.iter().all(is_box) {
        return Ok(false);
    }
    let boxes: Vec<NdRange> = members.iter().map(|member| member.bounds.clone()).collect();
    if each_pair(&boxes, MOST_PAIRS, |_, _| ControlFlow::Break(())) != Some(ControlFlow::Continue(())) {
        return Ok(false);
    }
    for Member { fragment, .. } in &members {
        array.workers().check()?;
        // The caller counts all cells, written or not.
        stating.add_fragment(&stating.known_of(fragment), 0);
    }
    Ok(true)
}

/// Returns the fragments with possible cells in the ranges.
fn members<'a>(array: &'a Snapshot, regions: &[Vec<DimRange>]) -> Result<Vec<Member<'a>>> {
    if regions.iter().any(Vec::is_empty) {
        return Ok(Vec::new());
    }
    let relevant = Relevant::of(array, regions, &[], false)?.fragments;
    let relevant: Vec<&Fragment> = relevant.into_iter().filter(|fragment| fragment.tile_count() > 0).collect();
    prefetch_totals((&**array.storage(), array.workers()), &relevant)?;
    let kinds = array.schema().domain().kinds();
    let member = |fragment: &'a Fragment| {
        let bounds = match fragment.bounds() {
            Some(bounds) => checked(array, fragment, &bounds)?.widened(&kinds),
            None => NdRange(kinds.iter().map(|kind| DimRange::everything(*kind)).collect()),
        };
        let is_whole = |(ranges, side): (&Vec<DimRange>, &DimRange)| matches!(DimRange::narrowed(ranges, side), [only] if only.contains(side));
        let whole = regions.iter().zip(&bounds.0).all(is_whole);
        Ok(Member { fragment, bounds, whole })
    };
    relevant.into_iter().map(member).collect()
}

/// Checks that a non-empty domain matches the array's dimensions.
fn checked<'b>(array: &Snapshot, fragment: &Fragment, bounds: &'b NdRange) -> Result<&'b NdRange> {
    match has_dimensions(array.schema(), bounds) {
        true => Ok(bounds),
        false => Err(corrupt(array, fragment, "the non-empty domain does not match the array's dimensions".to_owned())),
    }
}

fn has_dimensions(schema: &ArraySchema, bounds: &NdRange) -> bool {
    let kinds = schema.dimensions().iter().map(tdb_schema::Dimension::is_var);
    bounds.0.iter().map(|side| matches!(side, DimRange::Var { .. })).eq(kinds)
}

/// Returns the reason why the statistics of a fragment do not suffice. Returns `None` if the
/// statistics may suffice.
fn looked_at(array: &Snapshot, fragment: &Fragment, hides: bool) -> Result<Option<InexactReason>> {
    let (header, name) = (fragment.footer().header(), fragment.name());
    if header.has_timestamps && !array.time().contains(name.start(), name.end()) {
        return Ok(Some(InexactReason::Times));
    }
    if header.has_delete_metadata || !array.deletes_for(fragment)?.is_empty() {
        return Ok(Some(InexactReason::Deletes));
    }
    // Cells with different timestamps in a fragment may have the same coordinates.
    Ok((hides && header.has_timestamps).then_some(InexactReason::Overlap))
}

/// Returns `true` if cells of two fragments may have the same coordinates, or if too many
/// comparisons are necessary to exclude this.
fn may_hide(array: &Snapshot, members: &[Member<'_>], regions: &[Vec<DimRange>]) -> Result<bool> {
    let boxes: Vec<NdRange> = members.iter().map(|member| member.bounds.clone()).collect();
    let mut left = MOST_COMPARISONS;
    let found = each_pair(&boxes, MOST_PAIRS, |own, other| {
        let meet = array.workers().check().map_err(ArrayError::from).and_then(|()| {
            let (own, other) = (&members[own], &members[other]);
            let Some(common) = own.bounds.intersection(&other.bounds) else { return Ok(false) };
            // Searches the larger fragment for each tile of the smaller fragment.
            let (few, many) = match own.fragment.tile_count() <= other.fragment.tile_count() {
                true => (own.fragment, other.fragment),
                false => (other.fragment, own.fragment),
            };
            tiles_meet(array, (few, many), &common, regions, &mut left)
        });
        match meet {
            Ok(false) => ControlFlow::Continue(()),
            found => ControlFlow::Break(found),
        }
    });
    match found {
        Some(ControlFlow::Continue(())) => Ok(false),
        Some(ControlFlow::Break(found)) => found,
        None => Ok(true),
    }
}

/// Returns `true` if tiles of two fragments within a box and the ranges may overlap. `left` is the
/// remaining number of R-tree nodes to compare. Without remaining nodes, assumes an overlap.
fn tiles_meet(
    array: &Snapshot,
    (few, many): (&Fragment, &Fragment),
    common: &NdRange,
    regions: &[Vec<DimRange>],
    left: &mut u64,
) -> Result<bool> {
    let wanted = common.0.iter().zip(regions);
    let wanted = wanted
        .map(|(side, ranges)| ranges.iter().filter_map(|range| range.intersection(side)).collect::<Vec<DimRange>>());
    let wanted: Vec<Vec<DimRange>> = wanted.collect();
    let (rtree, others) = (few.rtree()?, many.rtree()?);
    let found = rtree.search(&wanted).map_err(|error| of_rtree(array, few, &error))?;
    for (tile, _) in found {
        let Some(bounds) = rtree.bounds(tile) else { return Ok(true) };
        let bounds: Vec<Vec<DimRange>> = bounds.0.into_iter().map(|side| vec![side]).collect();
        if may_intersect(&others, &bounds, left) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the tiles with possible cells in the ranges, and the coverage of each.
fn tiles(array: &Snapshot, fragment: &Fragment, regions: &[Vec<DimRange>]) -> Result<Vec<(u64, Coverage)>> {
    let rtree = fragment.rtree()?;
    let found = rtree.search(regions).map_err(|error| of_rtree(array, fragment, &error))?;
    Ok(found.collect())
}

#[cold]
fn of_rtree(array: &Snapshot, fragment: &Fragment, error: &RTreeError) -> ArrayError {
    corrupt(array, fragment, error.to_string())
}

#[cold]
fn corrupt(array: &Snapshot, fragment: &Fragment, what: String) -> ArrayError {
    ArrayError::Corrupt { file: array.storage().describe(fragment.folder()), what }
}

//! A fragment as seen by a query: candidate tiles, and the files to read.

use std::sync::Arc;

use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_query::PrunedTiles;
use tdb_rtree::{Boxes, Coverage, DimRange, NdRange, RTree, RTreeError};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{ArrayError, Fragment, OutputField, Result, Snapshot, TimeRange};

use crate::boxed::{BoxedTiles, Compared};
use crate::conditions::Conditions;
use crate::selected::SelectedTile;

/// A fragment with candidate tiles.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) fragment: Fragment,
    /// Candidate tiles (tiles that may hold matching cells), ascending.
    pub(super) tiles: Vec<SelectedTile>,
    /// Number of tiles excluded by the query's condition.
    pub(super) pruned: usize,
    /// The excluded tiles by reason. Filled only if the caller asked for an explanation.
    pub(super) pruned_by: Vec<PrunedTiles>,
    rtree: Arc<RTree>,
    /// The query's boxes that intersect each tile.
    boxed: Option<BoxedTiles>,
    /// Tiles of the coordinates.
    pub(super) dimensions: Vec<Arc<FieldTiles>>,
    /// Tiles of the selected fields. `None` if the fragment lacks the field.
    pub(super) fields: Vec<Option<Arc<FieldTiles>>>,
    /// Timestamps of the cells, if stored.
    pub(super) times: Option<Arc<FieldTiles>>,
    /// `true` if cells may have timestamps outside of the opened time range.
    pub(super) is_time_limited: bool,
    /// Deletion timestamps of the cells, if stored.
    pub(super) deletions: Option<Arc<FieldTiles>>,
    /// Conditions on the cells.
    pub(super) conditions: Option<Conditions>,
}

/// The selection of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought<'a> {
    pub(super) array: &'a Snapshot,
    /// Requested ranges for each dimension, sorted and disjoint.
    pub(super) regions: &'a [Vec<DimRange>],
    /// Boxes of the selection. A cell must be inside at least one box.
    pub(super) boxes: Option<&'a Boxes>,
    /// Fields to gather.
    pub(super) fields: &'a [OutputField],
    pub(super) time: TimeRange,
    /// Conditions on the cells.
    pub(super) filter: &'a [BoundCondition],
}

/// Candidate tiles, ascending, with the intersecting boxes.
type Found = (Vec<(u64, Coverage)>, Option<BoxedTiles>);

impl Source {
    /// Selects tiles of a fragment. Returns `None` if no tile may hold matching cells.
    pub(super) fn of(fragment: &Fragment, sought: Sought<'_>) -> Result<Option<Self>> {
        let Sought { array, .. } = sought;
        if sought.regions.iter().any(Vec::is_empty) || fragment.tile_count() == 0 {
            return Ok(None);
        }
        let rtree = fragment.rtree()?;
        let corrupt = |what: String| ArrayError::Corrupt { file: array.storage().describe(fragment.folder()), what };
        let (found, boxed) = Self::search(&rtree, sought).map_err(|error| corrupt(error.to_string()))?;
        let mut tiles = Vec::new();
        for (tile, coverage) in found {
            let cells = fragment.footer().cells_in_tile(tile);
            // Each cell needs at least an 8-byte key or offset.
            let limit = (array.limits().tile_bytes / 8).min(u64::from(u32::MAX));
            let Some(cells) = cells.filter(|cells| *cells <= limit).and_then(|cells| u32::try_from(cells).ok()) else {
                let Some(cells) = cells else { return Err(corrupt(format!("tile {tile} does not exist"))) };
                let what =
                    format!("tile {tile} of {cells} cells exceeds the limit of {limit} cells; raise `tile_bytes`");
                return Err(ArrayError::Unsupported { file: array.storage().describe(fragment.folder()), what });
            };
            tiles.push(SelectedTile { tile, cells, full: coverage == Coverage::Full, given: 0, passes: 0 });
        }
        if tiles.is_empty() {
            return Ok(None);
        }
        let schema = array.schema();
        let header = fragment.footer().header();
        let name = fragment.name();
        let dimensions = (0..schema.dim_count()).map(|index| fragment.tiles_of(FragmentField::Dimension(index)));
        let fields = sought.fields.iter().map(|output| fragment.field_tiles(schema, output.field));
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let conditions = Conditions::of(fragment, array, sought.filter, &fields)?;
        let optional = |there: bool, field| there.then(|| fragment.tiles_of(field)).transpose();
        Ok(Some(Self {
            tiles,
            pruned: 0,
            pruned_by: Vec::new(),
            rtree,
            boxed,
            dimensions: dimensions.collect::<Result<_>>()?,
            fields,
            times: optional(header.has_timestamps, FragmentField::Timestamps)?,
            is_time_limited: header.has_timestamps && !sought.time.contains(name.start(), name.end()),
            conditions,
            deletions: optional(header.has_delete_metadata, FragmentField::DeleteTimestamps)?,
            fragment: fragment.clone(),
        }))
    }

    /// Returns the candidate tiles, ascending.
    fn search(rtree: &RTree, sought: Sought<'_>) -> Result<Found, RTreeError> {
        let hull = rtree.hull();
        // Most ranges of a long list may miss the fragment.
        let narrowed = sought.regions.iter().enumerate().map(|(dimension, ranges)| match &hull {
            Some(hull) => DimRange::narrowed(ranges, &hull.0[dimension]),
            None => &ranges[..],
        });
        let narrowed: Vec<&[DimRange]> = narrowed.collect();
        let Some(boxes) = sought.boxes else { return Ok((rtree.search(&narrowed)?.collect(), None)) };
        let mut found = Vec::new();
        let boxed = BoxedTiles::search(rtree, boxes, |tile, full| {
            let Some(bounds) = rtree.bounds(tile) else { return };
            let sides = narrowed.iter().zip(&bounds.0);
            let mut sides = sides.map(|(ranges, bounds)| (DimRange::narrowed(ranges, bounds), bounds));
            if sides.clone().all(|(ranges, _)| !ranges.is_empty()) {
                let inside = sides.all(|(ranges, bounds)| matches!(ranges, [only] if only.contains(bounds)));
                found.push((tile, if full && inside { Coverage::Full } else { Coverage::Partial }));
            }
        });
        Ok((found, Some(boxed)))
    }

    /// Returns the timestamp of cells without a separate timestamp.
    pub(super) fn time(&self) -> u64 {
        self.fragment.name().start()
    }

    /// Returns the MBR of a tile.
    pub(super) fn mbr(&self, tile: u64) -> NdRange {
        // The search has already found the tile in the tree.
        self.rtree.bounds(tile).unwrap_or(NdRange(Vec::new()))
    }

    /// Returns a bounding box of all of the fragment's cells, if known.
    pub(super) fn hull(&self) -> Option<NdRange> {
        self.rtree.hull()
    }

    /// Returns `true` if a tile may have a cell inside one of the ranges of every dimension. See
    /// [`may_intersect`].
    pub(super) fn may_intersect(&self, query: &[Vec<DimRange>], left: &mut u64) -> bool {
        may_intersect(&self.rtree, query, left)
    }

    /// Returns `true` if the cells of a tile must be checked individually even if the tile is
    /// inside the region.
    pub(super) fn is_filtered(&self, tile: &SelectedTile) -> bool {
        let by_condition = self.conditions.as_ref().is_some_and(|conditions| conditions.apply_to(tile));
        self.is_time_limited || self.deletions.is_some() || by_condition
    }

    /// Returns the checks for the coordinates of a tile.
    pub(super) fn compared<'a>(
        &'a self,
        regions: &'a [Vec<DimRange>],
        boxes: Option<&'a Boxes>,
        tile: &SelectedTile,
    ) -> Compared<'a> {
        if tile.full {
            return Compared::nothing(self.dimensions.len());
        }
        let bounds = self.mbr(tile.tile);
        let boxes = boxes.zip(self.boxed.as_ref());
        let boxes = boxes.and_then(|(boxes, boxed)| Some((boxes, boxed.of(tile.tile, &bounds, boxes)?)));
        Compared::of(&bounds, regions, boxes)
    }
}

/// Returns `true` if a tile of the tree may have a cell inside one of the ranges of every
/// dimension.
///
/// `left` is the remaining budget of node comparisons. The search reduces the budget and returns
/// `true` when no budget is left.
pub fn may_intersect(rtree: &RTree, query: &[Vec<DimRange>], left: &mut u64) -> bool {
    // A search has a fixed cost.
    *left = left.saturating_sub(32);
    let Ok(search) = rtree.search(query) else { return true };
    let mut search = search.limited_to(*left);
    let found = search.next().is_some();
    *left = search.left();
    found || *left == 0
}

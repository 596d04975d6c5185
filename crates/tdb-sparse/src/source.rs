//! A fragment as far as a query is concerned: which of its tiles may hold wanted cells, and how to read them.

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

/// A fragment that may hold wanted cells.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) fragment: Fragment,
    /// The tiles that may hold wanted cells, ascending.
    pub(super) tiles: Vec<SelectedTile>,
    /// How many tiles were left out because no cell of theirs fulfils the query's condition.
    pub(super) pruned: usize,
    /// The same by what says so, if somebody wants to know.
    pub(super) pruned_by: Vec<PrunedTiles>,
    rtree: Arc<RTree>,
    /// Which of the query's boxes matter to which tiles.
    boxed: Option<BoxedTiles>,
    /// The coordinates.
    pub(super) dimensions: Vec<Arc<FieldTiles>>,
    /// The selected fields; none where the fragment doesn't have one.
    pub(super) fields: Vec<Option<Arc<FieldTiles>>>,
    /// The times of the cells, if they differ.
    pub(super) times: Option<Arc<FieldTiles>>,
    /// Whether some cells may have been written outside of the time range that was opened.
    pub(super) is_time_limited: bool,
    /// When each cell was deleted, if any was.
    pub(super) deletions: Option<Arc<FieldTiles>>,
    /// What cells must fulfil, if anything.
    pub(super) conditions: Option<Conditions>,
}

/// What a query seeks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sought<'a> {
    pub(super) array: &'a Snapshot,
    /// For each dimension the ranges wanted, sorted and disjoint.
    pub(super) regions: &'a [Vec<DimRange>],
    /// The boxes in one of which cells must lie too.
    pub(super) boxes: Option<&'a Boxes>,
    /// What is gathered of the cells.
    pub(super) fields: &'a [OutputField],
    pub(super) time: TimeRange,
    /// What cells must fulfil.
    pub(super) filter: &'a [BoundCondition],
}

/// Tiles that were found, ascending, and which boxes matter to them.
type Found = (Vec<(u64, Coverage)>, Option<BoxedTiles>);

impl Source {
    /// Looks for wanted tiles in a fragment; none if there are none.
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
                let Some(cells) = cells else { return Err(corrupt(format!("there is no tile {tile}"))) };
                let what = format!("tile {tile} has {cells} cells, more than the limit of {limit}; raise `tile_bytes`");
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

    /// The tiles that may hold wanted cells, ascending.
    fn search(rtree: &RTree, sought: Sought<'_>) -> Result<Found, RTreeError> {
        let hull = rtree.hull();
        // Of many ranges few may matter to the fragment.
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

    /// When cells without a time of their own were written.
    pub(super) fn time(&self) -> u64 {
        self.fragment.name().start()
    }

    /// The smallest box that holds a tile's cells.
    pub(super) fn mbr(&self, tile: u64) -> NdRange {
        // The search has found the tile in the tree.
        self.rtree.bounds(tile).unwrap_or(NdRange(Vec::new()))
    }

    /// The box in which all of the fragment's cells lie for certain, if there is one.
    pub(super) fn hull(&self) -> Option<NdRange> {
        self.rtree.hull()
    }

    /// Whether the tree may have a tile with a cell in one of the ranges of every dimension; as [`may_intersect`].
    pub(super) fn may_intersect(&self, query: &[Vec<DimRange>], left: &mut u64) -> bool {
        may_intersect(&self.rtree, query, left)
    }

    /// Whether cells of a tile have to be looked at one by one even where it lies in the region.
    pub(super) fn is_filtered(&self, tile: &SelectedTile) -> bool {
        let by_condition = self.conditions.as_ref().is_some_and(|conditions| conditions.apply_to(tile));
        self.is_time_limited || self.deletions.is_some() || by_condition
    }

    /// What the coordinates of a tile have to be compared with.
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

/// Whether a tree may have a tile with a cell in one of the ranges of every dimension. `left` is how many nodes of
/// trees may still be compared; when there are none left, it may.
pub fn may_intersect(rtree: &RTree, query: &[Vec<DimRange>], left: &mut u64) -> bool {
    // Starting a search costs something, too.
    *left = left.saturating_sub(32);
    let Ok(search) = rtree.search(query) else { return true };
    let mut search = search.limited_to(*left);
    let found = search.next().is_some();
    *left = search.left();
    found || *left == 0
}

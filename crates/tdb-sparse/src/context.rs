//! State shared by all parts of a sparse read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use tdb_cells::Order;
use tdb_cells::order::cell_order::CellOrder;
use tdb_cells::order::key::Key;
use tdb_condition::BoundCondition;
use tdb_query::{CheckedQuery, Relevant};
use tdb_rtree::{Boxes, DimRange, NdRange};
use tdb_schema::FieldRef;
use tdb_snapshot::{Fragment, OutputField, Result, Snapshot, TimeRange, prefetch};

use crate::boxed::Compared;
use crate::neighbours::each_pair;
use crate::selected::{SelectedTile, Tiles};
use crate::source::{Sought, Source};
use crate::spares::Spares;

/// A query and the fragments with candidate tiles.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) array: Snapshot,
    /// Fields to gather: the selected fields, followed by further coordinates for checks.
    pub(super) fields: Vec<OutputField>,
    /// Number of selected fields.
    pub(super) shown: usize,
    /// Index into `fields` for each dimension. `None` if the dimension is not gathered.
    pub(super) field_of_dimension: Vec<Option<usize>>,
    /// Requested ranges for each dimension, sorted and disjoint.
    pub(super) regions: Vec<Vec<DimRange>>,
    /// Boxes of the selection. A cell must be inside at least one box. `None` if the ranges
    /// describe the selection completely.
    pub(super) boxes: Option<Arc<Boxes>>,
    /// Bounding box of the selection. `None` if the selection is empty.
    hull: Option<NdRange>,
    pub(super) order: Order,
    /// Target size of a batch in bytes. May exceed the caller's limit. The caller then receives the
    /// batch in parts.
    pub(super) budget: usize,
    /// Upper bound for `budget`.
    most_budget: usize,
    /// Memory limit in bytes for loaded tiles, and for unfiltered cells kept for later batches.
    pub(super) room: usize,
    /// Memory limit in bytes for cells that are sorted together. The limit applies to the larger of
    /// two sizes: in the result, and during the sort.
    pub(super) sorting: usize,
    /// Memory limit in bytes for unfiltered cells of a field, for use in a single batch.
    pub(super) passing: usize,
    pub(super) time: TimeRange,
    /// Conditions on the cells, all required, cheapest first.
    pub(super) filter: Vec<BoundCondition>,
    /// Fragments with candidate tiles, oldest first.
    pub(super) sources: Vec<Source>,
    /// `true` for each source that cannot share coordinates with another source.
    pub(super) apart: Vec<bool>,
    /// Number of fragments excluded by statistics. None of their cells meets the conditions or
    /// hides a matching cell.
    pub(super) by_totals: usize,
    /// `true` if coordinate bounds of blocks within tiles are recorded for later queries. Set if
    /// the read touches few tiles, as in a point query, since later point queries may then skip
    /// blocks.
    pub(super) learns: bool,
    /// Buffers for reuse.
    pub(super) spares: Spares,
}

impl Context {
    pub(super) fn new(query: CheckedQuery) -> Result<Self> {
        let schema = query.array.schema();
        let fields = OutputField::all(&query.array, &query.fields)?;
        let position = |index| query.fields.iter().position(|field| *field == FieldRef::Dimension(index));
        let regions = query.region.ranges().to_vec();
        let mut context = Self {
            shown: fields.len(),
            fields,
            field_of_dimension: (0..schema.dim_count()).map(position).collect(),
            hull: hull(&regions, query.boxes.as_deref()),
            regions,
            boxes: query.boxes,
            order: query.order,
            budget: query.memory.batch,
            most_budget: query.memory.most_batch,
            room: query.memory.held,
            sorting: query.memory.sorting,
            passing: query.memory.passing,
            time: query.array.time(),
            filter: query.filter.as_deref().map(BoundCondition::parts).unwrap_or_default(),
            sources: Vec::new(),
            apart: Vec::new(),
            by_totals: 0,
            learns: false,
            spares: Spares::of(query.memory.passing),
            array: query.array,
        };
        let array = context.array.clone();
        let relevant = Relevant::of(&array, &context.regions, &context.filter, !context.allows_duplicates())?;
        context.by_totals = relevant.by_totals;
        prefetch_sections(&context, query.filter.as_deref(), &relevant.fragments)?;
        let fragments = relevant.fragments.into_iter();
        let sought = Sought {
            array: &context.array,
            regions: &context.regions,
            boxes: context.boxes.as_deref(),
            fields: &context.fields,
            time: context.time,
            filter: &context.filter,
        };
        let sources = fragments.map(|fragment| {
            context.array.workers().check()?;
            Source::of(fragment, sought)
        });
        context.sources = sources.filter_map(Result::transpose).collect::<Result<_>>()?;
        if context.must_deduplicate() {
            context.apart = apart(&context.sources);
        }
        context.learns = context.sources.iter().map(|source| source.tiles.len()).sum::<usize>() <= FEW_TILES;
        Ok(context)
    }

    /// Returns the checks for the coordinates of a tile.
    pub(super) fn compared<'a>(&'a self, source: &'a Source, tile: &SelectedTile) -> Compared<'a> {
        source.compared(&self.regions, self.boxes.as_deref(), tile)
    }

    /// Doubles the batch size, up to the maximum. Called when the last batch had to drop cells
    /// needed by the next batch.
    pub(super) fn grow_budget(&mut self) {
        self.budget = self.budget.saturating_mul(2).min(self.most_budget);
    }

    /// Adds all dimensions to the gathered fields, including unselected dimensions.
    pub(super) fn gather_coordinates(&mut self) -> Result<()> {
        let schema = self.array.schema();
        for dimension in 0..schema.dim_count() {
            let field = FieldRef::Dimension(dimension);
            if self.field_of_dimension[dimension].is_none() {
                self.field_of_dimension[dimension] = Some(self.fields.len());
                self.fields.push(OutputField::of(schema, field));
                for source in &mut self.sources {
                    source.fields.push(source.fragment.field_tiles(schema, field)?);
                }
            }
        }
        Ok(())
    }

    /// Returns `true` if two cells of the array may have the same coordinates.
    pub(super) fn allows_duplicates(&self) -> bool {
        self.array.schema().allows_duplicates()
    }

    /// Returns `true` if a cell may hide an older cell with the same coordinates. The older cell is
    /// in an older fragment, or in the same fragment if the fragment stores a timestamp per cell.
    /// Without timestamps, cells of the same write never hide each other.
    pub(super) fn must_deduplicate(&self) -> bool {
        !self.allows_duplicates()
            && (self.sources.len() > 1 || self.sources.iter().any(|source| source.times.is_some()))
    }

    /// Returns a bounding box of the tile's matching cells, or `None` without matching cells.
    pub(super) fn bounds(&self, source: usize, tile: u64) -> Option<NdRange> {
        self.sources[source].mbr(tile).intersection(self.hull.as_ref()?)
    }

    /// Returns the tiles with a lower and an upper bound for the keys of the matching cells. The
    /// bounds are `None` without matching cells. Keys are computed for thousands of tiles at a time
    /// because an array may have millions of tiles.
    pub(super) fn keys_of_bounds<'t, K: Key>(
        &'t self,
        order: &'t CellOrder,
        tiles: &'t Tiles,
    ) -> impl Iterator<Item = (&'t (usize, SelectedTile), Option<(K, K)>)> + use<'t, K> {
        tiles.chunks(BOUNDS_AT_ONCE).flat_map(|tiles| {
            let bounds: Vec<_> = tiles.iter().map(|(source, tile)| self.bounds(*source, tile.tile)).collect();
            let has_bounds: Vec<bool> = bounds.iter().map(Option::is_some).collect();
            let bounds: Vec<NdRange> = bounds.into_iter().flatten().collect();
            let mut ends = order.ends_of_all(&bounds).into_iter();
            tiles
                .iter()
                .zip(has_bounds)
                .map(move |(tile, has_bounds)| (tile, has_bounds.then(|| ends.next()).flatten()))
        })
    }
}

/// Number of tiles per computation of bounding keys.
const BOUNDS_AT_ONCE: usize = 4096;

/// Typical number of tiles read for a point or a small box if fragments hardly overlap.
const FEW_TILES: usize = 16;

/// Maximum number of fragment pairs to compare. Takes less than a millisecond.
const MOST_PAIRS: usize = 1 << 14;

/// Returns, for each fragment, `true` if its bounding box intersects no other fragment's bounding
/// box. Tiles of these fragments need no further comparison. Returns an empty list if a bounding
/// box is unknown, or if there are too many pairs to compare.
fn apart(sources: &[Source]) -> Vec<bool> {
    let Some(hulls) = sources.iter().map(Source::hull).collect::<Option<Vec<NdRange>>>() else { return Vec::new() };
    let mut apart = vec![true; hulls.len()];
    let ended = each_pair(&hulls, MOST_PAIRS, |a, b| {
        (apart[a], apart[b]) = (false, false);
        ControlFlow::<()>::Continue(())
    });
    if ended.is_some() { apart } else { Vec::new() }
}

/// Prefetches the metadata sections needed by sources.
fn prefetch_sections(context: &Context, filter: Option<&BoundCondition>, fragments: &[&Fragment]) -> Result<()> {
    let dimensions = (0..context.array.schema().dim_count()).map(FieldRef::Dimension);
    let needed = filter.into_iter().flat_map(BoundCondition::fields).map(|needed| needed.field);
    let attributes = context.fields.iter().map(|output| output.field).chain(needed);
    let fields: BTreeSet<FieldRef> =
        dimensions.chain(attributes.filter(|field| matches!(field, FieldRef::Attribute(_)))).collect();
    let fields: Vec<FieldRef> = fields.into_iter().collect();
    let array = &context.array;
    prefetch((&**array.storage(), array.workers()), array.schema(), fragments, &fields)
}

/// Returns the bounding box of the intersection of the ranges, which are sorted and disjoint, with
/// the boxes.
fn hull(regions: &[Vec<DimRange>], boxes: Option<&Boxes>) -> Option<NdRange> {
    let side = |ranges: &Vec<DimRange>| {
        let mut hull = ranges.first()?.clone();
        hull.expand(ranges.last()?);
        Some(hull)
    };
    let hull = NdRange(regions.iter().map(side).collect::<Option<_>>()?);
    match boxes {
        Some(boxes) => hull.intersection(&boxes.hull()?),
        None => Some(hull),
    }
}

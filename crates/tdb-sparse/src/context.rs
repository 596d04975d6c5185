//! What all parts of a sparse read share.

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

/// A query, and where its cells may lie.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) array: Snapshot,
    /// What is gathered: the selected fields, and then coordinates that have to be looked at.
    pub(super) fields: Vec<OutputField>,
    /// How many fields are selected.
    pub(super) shown: usize,
    /// For each dimension, which of the fields it is.
    pub(super) field_of_dimension: Vec<Option<usize>>,
    /// For each dimension the ranges wanted, sorted and disjoint.
    pub(super) regions: Vec<Vec<DimRange>>,
    /// The boxes in one of which cells must lie too, if there is more to that than the ranges.
    pub(super) boxes: Option<Arc<Boxes>>,
    /// The smallest box that holds all wanted cells; none if nothing is wanted.
    hull: Option<NdRange>,
    pub(super) order: Order,
    /// Bytes that a batch should not exceed. It may be more than the caller's, who then gets the batch in parts.
    pub(super) budget: usize,
    /// Up to which it may grow.
    most_budget: usize,
    /// Bytes that may be held to make batches.
    pub(super) room: usize,
    /// Bytes that cells may take that are sorted, in the result or while they are sorted, whichever is more.
    pub(super) sorting: usize,
    /// Bytes of cells of one field that may be unfiltered at a time for one batch only.
    pub(super) passing: usize,
    pub(super) time: TimeRange,
    /// What cells must fulfil: conditions that must all hold, the cheapest first.
    pub(super) filter: Vec<BoundCondition>,
    /// The fragments that may hold wanted cells, the oldest first.
    pub(super) sources: Vec<Source>,
    /// For each of them, whether it is certain that no other has a cell with the coordinates of one of its cells.
    pub(super) apart: Vec<bool>,
    /// How many fragments aren't among them because no cell of theirs fulfils the conditions, nor hides one that does.
    pub(super) by_totals: usize,
    /// Whether what is found out about parts of tiles is kept for other queries: of a few tiles that are looked at, as for a point,
    /// those may want little.
    pub(super) learns: bool,
    /// Memory to be used again.
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

    /// What the coordinates of a tile have to be compared with.
    pub(super) fn compared<'a>(&'a self, source: &'a Source, tile: &SelectedTile) -> Compared<'a> {
        source.compared(&self.regions, self.boxes.as_deref(), tile)
    }

    /// Makes the next batches larger, because the last one unfiltered tiles that the next will need once more.
    pub(super) fn grow_budget(&mut self) {
        self.budget = self.budget.saturating_mul(2).min(self.most_budget);
    }

    /// Has all coordinates gathered, also those that aren't selected.
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

    /// Whether two cells of the array may have the same coordinates.
    pub(super) fn allows_duplicates(&self) -> bool {
        self.array.schema().allows_duplicates()
    }

    /// Whether cells may hide others with the same coordinates, which are in older fragments, or older in a fragment that has a time for
    /// each cell. Cells of a fragment without such times never hide each other: all of them were written at once.
    pub(super) fn must_deduplicate(&self) -> bool {
        !self.allows_duplicates()
            && (self.sources.len() > 1 || self.sources.iter().any(|source| source.times.is_some()))
    }

    /// The smallest box that holds all wanted cells of a tile, as far as is known; none if there are none.
    pub(super) fn bounds(&self, source: usize, tile: u64) -> Option<NdRange> {
        self.sources[source].mbr(tile).intersection(self.hull.as_ref()?)
    }

    /// The tiles, each with keys between which those of all its wanted cells lie; none if it has none. Those of some thousand tiles are made
    /// together: there may be millions of them.
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

/// Of how many tiles the keys of bounds are made together.
const BOUNDS_AT_ONCE: usize = 4096;

/// As many tiles are looked at for a point, or a small box, where fragments don't overlap much.
const FEW_TILES: usize = 16;

/// So many pairs of fragments are looked at, at most: less than a millisecond.
const MOST_PAIRS: usize = 1 << 14;

/// Which fragments lie apart from all others, by the boxes that hold all of their cells. Of their tiles, which may be many, nobody has to ask.
fn apart(sources: &[Source]) -> Vec<bool> {
    let Some(hulls) = sources.iter().map(Source::hull).collect::<Option<Vec<NdRange>>>() else { return Vec::new() };
    let mut apart = vec![true; hulls.len()];
    let ended = each_pair(&hulls, MOST_PAIRS, |a, b| {
        (apart[a], apart[b]) = (false, false);
        ControlFlow::<()>::Continue(())
    });
    if ended.is_some() { apart } else { Vec::new() }
}

/// Has the sections of fragments fetched that sources will want.
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

/// The smallest box that holds all that is in the ranges, which are sorted and disjoint, and in boxes.
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

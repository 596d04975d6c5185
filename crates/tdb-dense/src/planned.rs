//! Read plans of dense queries.

use std::collections::BTreeMap;

use tdb_query::{CheckedQuery, FileReads, FragmentPlan, FragmentsLeftOut, PlannedTile, PrunedTiles, Pruner, announce};
use tdb_schema::FieldRef;
use tdb_snapshot::Result;
use tdb_storage::ReadAhead;

use crate::DenseReader;
use crate::axis::Piece;
use crate::fields::Fields;
use crate::layers::{Layers, Owned, TilePlace};
use crate::runs::{RunTiles, Sides};
use crate::shape::{Odometer, Shape};
use crate::work::{bounds, clip};

/// Number of tiles that take negligible time to visit. Larger tile counts of fragments are checked
/// first.
pub(super) const MANY_TILES: u64 = 1 << 16;

/// Returns the tiles to read in each fragment, and the numbers of skipped fragments. A tile is read
/// if it contains the newest version of a requested cell.
///
/// # Errors
/// The metadata of a fragment cannot be read.
pub fn plan(query: &CheckedQuery) -> Result<(Vec<FragmentPlan>, FragmentsLeftOut)> {
    DenseReader::of_region(query.clone())?.plan(|_, _| false)
}

impl DenseReader {
    /// Prefetches the bytes of the planned tiles on storage with high latency, until the
    /// [`ReadAhead`] is dropped. Reports the plan to the monitor of the query, if any.
    ///
    /// # Errors
    /// The metadata of a fragment cannot be read.
    pub fn read_ahead(&mut self) -> Result<Option<ReadAhead>> {
        self.read_ahead_without(|_, _| false)
    }

    /// Prefetches like [`read_ahead`](Self::read_ahead), except for tiles that are already known.
    /// `is_known` receives the index of the fragment and the index of the tile.
    pub(super) fn read_ahead_without(&mut self, is_known: impl Fn(usize, u64) -> bool) -> Result<Option<ReadAhead>> {
        let (array, bytes) = (self.query.array.clone(), self.query.memory.ahead);
        announce(&array, bytes, || Ok(self.plan(is_known)?.0))
    }

    fn plan(&mut self, is_known: impl Fn(usize, u64) -> bool) -> Result<(Vec<FragmentPlan>, FragmentsLeftOut)> {
        if !self.fields.outputs.iter().any(|output| matches!(output.field, FieldRef::Attribute(_))) {
            // Coordinates of dense cells are not stored.
            return Ok((Vec::new(), FragmentsLeftOut::default()));
        }
        let sides = Sides::of(&self.query);
        // A sparse fragment has one layer per cell.
        let mut wanted: BTreeMap<usize, Found> = BTreeMap::new();
        for index in 0..self.layers.len() {
            // Visiting many tiles takes long. A damaged footer may claim many tiles. Therefore
            // check first that the fragment really stores tiles.
            if !self.is_believed(index)? {
                continue;
            }
            let found = wanted.entry(self.layers.get(index).fragment).or_default();
            match &sides {
                Some(sides) => tiles_of_boxes(index, &self.layers, &self.shape, sides, found),
                None => tiles(index, &self.layers, &self.shape, found),
            }
        }
        let Self { query, fields, .. } = self;
        let mut fragments = Vec::new();
        let mut left_out = FragmentsLeftOut { region: query.array.fragments()?.len(), ..FragmentsLeftOut::default() };
        for (index, found) in wanted {
            let (mut tiles, hidden) = found.finish();
            left_out.region -= usize::from(!tiles.is_empty() || hidden > 0);
            if tiles.is_empty() {
                left_out.hidden += usize::from(hidden > 0);
                continue;
            }
            let fragment = &query.array.fragments()?[index];
            let found = tiles.len();
            let mut pruned_by = Vec::new();
            if let Some(filter) = &query.filter {
                let pruner = Pruner::new(fragment, query.array.schema(), filter);
                tiles.retain(|tile| {
                    let is_out = pruner.rules_out(tile.tile);
                    if is_out {
                        PrunedTiles::add(&mut pruned_by, pruner.reason(tile.tile, query.array.schema()));
                    }
                    !is_out
                });
            }
            let pruned = found - tiles.len();
            tiles.retain(|tile| !is_known(index, tile.tile));
            let mut files = Vec::new();
            if !tiles.is_empty() {
                fields.load_fragments(&[index])?;
                files = reads(index, &tiles, fields)?;
            }
            fragments.push(FragmentPlan {
                folder: fragment.folder().to_owned(),
                tile_count: fragment.tile_count(),
                outside: fragment.tile_count().saturating_sub(found as u64 + hidden),
                hidden,
                pruned,
                pruned_by,
                late: Vec::new(),
                tiles,
                reads: files,
            });
        }
        Ok((fragments, left_out))
    }
}

/// The tiles of a fragment that overlap the query's region.
#[derive(Debug, Default)]
struct Found {
    /// Tiles to read.
    wanted: Vec<PlannedTile>,
    /// Tiles with a layer that newer layers hide in all requested cells. Another layer of the same
    /// tile may be in `wanted`.
    hidden: Vec<u64>,
}

impl Found {
    /// Adds a tile of a layer, if the tile exists. `is_full` returns `true` if the query selects
    /// all cells of the tile.
    fn add(&mut self, place: Option<TilePlace>, is_read: bool, is_full: impl Fn() -> bool) {
        match place {
            Some(TilePlace { tile, cells, cell }) if is_read => {
                self.wanted.push(PlannedTile { tile, full: cell.is_none() && is_full(), cells });
            }
            Some(TilePlace { tile, .. }) => self.hidden.push(tile),
            None => {}
        }
    }

    /// Returns the tiles to read, ascending, and the number of completely hidden tiles.
    fn finish(mut self) -> (Vec<PlannedTile>, u64) {
        self.wanted.sort_unstable_by_key(|tile| tile.tile);
        self.wanted.dedup_by_key(|tile| tile.tile);
        self.hidden.sort_unstable();
        self.hidden.dedup();
        let is_wanted = |tile: &u64| self.wanted.binary_search_by_key(tile, |tile| tile.tile).is_ok();
        let hidden = self.hidden.iter().filter(|tile| !is_wanted(tile)).count();
        (self.wanted, hidden as u64)
    }
}

/// Adds the tiles of a layer that overlap the query's region to `found`.
fn tiles(index: usize, layers: &Layers, shape: &Shape, found: &mut Found) {
    let layer = layers.get(index);
    let pieces: Vec<Vec<Piece>> =
        shape.axes.iter().zip(&layer.bounds).map(|(axis, bounds)| axis.pieces_within(bounds)).collect();
    let groups: Vec<Vec<&[Piece]>> =
        pieces.iter().map(|pieces| pieces.chunk_by(|a, b| a.tile == b.tile).collect()).collect();
    let candidates = layers.within(&layer.bounds);
    let counts = groups.iter().map(|groups| 0..groups.len() as u64).collect();
    let mut at = Odometer::new(counts, shape.tile_order.clone());
    let mut owned = Vec::new();
    while let Some(place) = at.at() {
        let groups: Vec<&[Piece]> = groups.iter().zip(place).map(|(groups, &at)| groups[at as usize]).collect();
        let axes = || groups.iter().zip(&shape.axes);
        let all: Vec<_> = axes().map(|(pieces, axis)| bounds(*pieces, axis.extent)).collect();
        layers.owners(&all, &candidates, &mut owned);
        let is_read = |owned: &Owned| {
            let parts = axes().zip(&owned.bounds);
            owned.layer == Some(index)
                && parts.into_iter().all(|((pieces, axis), bounds)| !clip(pieces, bounds, axis.extent).is_empty())
        };
        let is_read = owned.drain(..).any(|owned| is_read(&owned));
        let tile: Vec<u64> = groups.iter().map(|pieces| pieces[0].tile).collect();
        let is_full = || shape.axes.iter().zip(&tile).all(|(axis, &tile)| axis.has_all_of(tile));
        found.add(layer.tile(&tile), is_read, is_full);
        at.advance();
    }
}

/// Adds the tiles of a layer that overlap the query's boxes to `found`.
fn tiles_of_boxes(index: usize, layers: &Layers, shape: &Shape, sides: &Sides, found: &mut Found) {
    let layer = layers.get(index);
    let candidates = layers.within(&layer.bounds);
    let mut wanted = RunTiles::new(shape, sides.within(&layer.bounds));
    let mut owned = Vec::new();
    while let Some(tile) = wanted.next() {
        let extents = shape.axes.iter().map(|axis| u128::from(axis.extent));
        let whole = tile.iter().zip(extents).map(|(tile, extent)| {
            let start = u128::from(*tile) * extent;
            start..start + extent
        });
        let whole: Vec<_> = whole.collect();
        let inside = whole.iter().zip(&layer.bounds);
        let inside: Vec<_> =
            inside.map(|(tile, bounds)| tile.start.max(bounds.start)..tile.end.min(bounds.end)).collect();
        layers.owners(&inside, &candidates, &mut owned);
        let is_read = owned.drain(..).any(|owned| owned.layer == Some(index) && wanted.meet(&owned.bounds));
        found.add(layer.tile(&tile), is_read, || wanted.cover(&whole));
    }
}

/// Returns the byte ranges of the tiles in the data files of all output fields.
fn reads(fragment: usize, tiles: &[PlannedTile], fields: &Fields) -> Result<Vec<FileReads>> {
    let mut reads = Vec::new();
    for index in 0..fields.outputs.len() {
        let field = fields.field(index);
        let Some(found) = field.tiles_in(fragment) else { continue };
        let parts = [Some(&found.fixed), found.var.as_ref().map(|(part, _)| part), found.validity.as_ref()];
        for part in parts.into_iter().flatten() {
            reads.push(FileReads::of(&field.output.name, part, tiles.iter().map(|tile| tile.tile))?);
        }
    }
    Ok(reads)
}

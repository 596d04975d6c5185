//! What a read would touch.

use std::collections::BTreeMap;

use tdb_schema::FieldRef;

use super::axis::Piece;
use super::fields::Fields;
use super::layers::{Layers, Owned, TilePlace};
use super::runs::{RunTiles, Sides};
use super::shape::{Odometer, Shape};
use super::work::{bounds, clip};
use crate::Result;
use crate::plan::{FileReads, FragmentPlan, PlannedTile};
use crate::query::CheckedQuery;
use crate::read::Pruner;

/// Walking over as many tiles takes no time.
const MANY_TILES: u64 = 1 << 16;

/// Which tiles a query touches: those that have the newest of some cell that is asked for.
pub(crate) fn plan(query: &CheckedQuery) -> Result<Vec<FragmentPlan>> {
    let mut fields = Fields::new(query)?;
    if !fields.outputs().iter().any(|output| matches!(output.field, FieldRef::Attribute(_))) {
        // The coordinates of dense cells are stored nowhere.
        return Ok(Vec::new());
    }
    let shape = Shape::new(query);
    let layers = Layers::new(&query.array)?;
    // Sparse fragments are many layers.
    let mut wanted: BTreeMap<usize, Vec<PlannedTile>> = BTreeMap::new();
    for index in 0..layers.len() {
        let fragment = layers.get(index).fragment;
        // More tiles are believed in once as many are known to be stored.
        if query.array.fragments()?[fragment].tile_count() > MANY_TILES {
            fields.load_fragments(&[fragment])?;
        }
        let found = match Sides::of(query) {
            Some(sides) => tiles_of_boxes(index, &layers, &shape, &sides),
            None => tiles(index, &layers, &shape),
        };
        wanted.entry(fragment).or_default().extend(found);
    }
    let mut fragments = Vec::new();
    for (index, mut tiles) in wanted.into_iter().filter(|(_, tiles)| !tiles.is_empty()) {
        tiles.sort_unstable_by_key(|tile| tile.tile);
        tiles.dedup_by_key(|tile| tile.tile);
        fields.load_fragments(&[index])?;
        let fragment = &query.array.fragments()?[index];
        let found = tiles.len();
        if let Some(filter) = &query.filter {
            let pruner = Pruner::new(fragment, query.array.schema(), filter);
            tiles.retain(|tile| !pruner.rules_out(tile.tile));
        }
        let reads = reads(index, &tiles, &fields)?;
        fragments.push(FragmentPlan {
            folder: fragment.folder().to_owned(),
            tile_count: fragment.tile_count(),
            pruned: found - tiles.len(),
            tiles,
            reads,
        });
    }
    Ok(fragments)
}

/// The tiles of a layer that are read.
fn tiles(index: usize, layers: &Layers, shape: &Shape) -> Vec<PlannedTile> {
    let layer = layers.get(index);
    let pieces: Vec<Vec<Piece>> =
        shape.axes.iter().zip(layer.bounds()).map(|(axis, bounds)| axis.pieces_within(bounds)).collect();
    let groups: Vec<Vec<&[Piece]>> =
        pieces.iter().map(|pieces| pieces.chunk_by(|a, b| a.tile == b.tile).collect()).collect();
    let candidates = layers.within(layer.bounds());
    let counts = groups.iter().map(|groups| 0..groups.len() as u64).collect();
    let mut at = Odometer::new(counts, shape.tile_order.clone());
    let (mut tiles, mut owned) = (Vec::new(), Vec::new());
    while let Some(place) = at.at() {
        let groups: Vec<&[Piece]> = groups.iter().zip(place).map(|(groups, &at)| groups[at as usize]).collect();
        let axes = || groups.iter().zip(&shape.axes);
        let all: Vec<_> = axes().map(|(pieces, axis)| bounds(*pieces, axis.extent())).collect();
        layers.owners(&all, &candidates, &mut owned);
        let is_read = |owned: &Owned| {
            let parts = axes().zip(&owned.bounds);
            owned.layer == Some(index)
                && parts.into_iter().all(|((pieces, axis), bounds)| !clip(pieces, bounds, axis.extent()).is_empty())
        };
        if owned.drain(..).any(|owned| is_read(&owned)) {
            let tile: Vec<u64> = groups.iter().map(|pieces| pieces[0].tile).collect();
            let full = shape.axes.iter().zip(&tile).all(|(axis, &tile)| axis.has_all_of(tile));
            let place = layer.tile(&tile);
            tiles.extend(place.map(|TilePlace { tile, cells, cell }| PlannedTile {
                tile,
                full: full && cell.is_none(),
                cells,
            }));
        }
        at.advance();
    }
    tiles
}

/// The tiles of a layer that are read for boxes.
fn tiles_of_boxes(index: usize, layers: &Layers, shape: &Shape, sides: &Sides) -> Vec<PlannedTile> {
    let layer = layers.get(index);
    let candidates = layers.within(layer.bounds());
    let mut wanted = RunTiles::new(shape, sides.within(layer.bounds()));
    let (mut tiles, mut owned) = (Vec::new(), Vec::new());
    while let Some(tile) = wanted.next() {
        let extents = shape.axes.iter().map(|axis| u128::from(axis.extent()));
        let whole = tile.iter().zip(extents).map(|(tile, extent)| {
            let start = u128::from(*tile) * extent;
            start..start + extent
        });
        let whole: Vec<_> = whole.collect();
        let inside = whole.iter().zip(layer.bounds());
        let inside: Vec<_> =
            inside.map(|(tile, bounds)| tile.start.max(bounds.start)..tile.end.min(bounds.end)).collect();
        layers.owners(&inside, &candidates, &mut owned);
        if owned.drain(..).any(|owned| owned.layer == Some(index) && wanted.meet(&owned.bounds)) {
            let full = wanted.cover(&whole);
            let place = layer.tile(&tile);
            tiles.extend(place.map(|TilePlace { tile, cells, cell }| PlannedTile {
                tile,
                full: full && cell.is_none(),
                cells,
            }));
        }
    }
    tiles
}

/// Where the tiles lie in the files of the fields.
fn reads(fragment: usize, tiles: &[PlannedTile], fields: &Fields) -> Result<Vec<FileReads>> {
    let mut reads = Vec::new();
    for index in 0..fields.outputs().len() {
        let field = fields.field(index);
        let Some(found) = field.tiles_in(fragment) else { continue };
        let parts = [Some(&found.fixed), found.var.as_ref().map(|(part, _)| part), found.validity.as_ref()];
        for part in parts.into_iter().flatten() {
            reads.push(FileReads::of(&field.output.name, part, tiles.iter().map(|tile| tile.tile))?);
        }
    }
    Ok(reads)
}

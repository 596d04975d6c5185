//! What a read would touch.

use super::axis::Piece;
use super::fields::Fields;
use super::layers::{Layer, Layers, Owned};
use super::shape::{Odometer, Shape};
use super::work::{bounds, clip};
use crate::plan::{FileReads, FragmentPlan, PlannedTile};
use crate::query::CheckedQuery;
use crate::tiles::PartTiles;
use crate::{Array, Result};

/// Which tiles a query touches: those that have the newest of some cell that is asked for.
pub(crate) fn plan(query: &CheckedQuery) -> Result<Vec<FragmentPlan>> {
    let shape = Shape::new(query);
    let layers = Layers::new(&query.array);
    let mut fields = Fields::new(query)?;
    let mut fragments = Vec::new();
    for index in 0..layers.len() {
        let layer = layers.get(index);
        let tiles = tiles(index, &layers, &shape);
        if !tiles.is_empty() {
            fields.load_fragments(&[layer.fragment])?;
            let reads = reads(layer, &tiles, &fields)?;
            fragments.push(fragment_plan(&query.array, layer, tiles, reads));
        }
    }
    Ok(fragments)
}

fn fragment_plan(array: &Array, layer: &Layer, tiles: Vec<PlannedTile>, reads: Vec<FileReads>) -> FragmentPlan {
    let folder = array.fragments()[layer.fragment].folder().to_owned();
    FragmentPlan { folder, tile_count: layer.grid.tile_count(), tiles, reads }
}

/// The tiles of a layer that are read, ascending.
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
            let index = layer.grid.index_of(&tile);
            tiles.extend(index.map(|tile| PlannedTile { tile, full, cells: shape.cells_per_tile }));
        }
        at.advance();
    }
    tiles.sort_unstable_by_key(|tile| tile.tile);
    tiles
}

/// Where the tiles lie in the files of the fields.
fn reads(layer: &Layer, tiles: &[PlannedTile], fields: &Fields) -> Result<Vec<FileReads>> {
    let mut reads = Vec::new();
    for index in 0..fields.outputs().len() {
        let field = fields.field(index);
        let Some(found) = field.tiles_in(layer.fragment) else { continue };
        let parts = [Some(&found.fixed), found.var.as_ref().map(|(part, _)| part), found.validity.as_ref()];
        for part in parts.into_iter().flatten() {
            reads.push(file_reads(&field.output.name, part, tiles)?);
        }
    }
    Ok(reads)
}

fn file_reads(field: &str, part: &PartTiles, tiles: &[PlannedTile]) -> Result<FileReads> {
    let mut reads = FileReads { field: field.to_owned(), file: part.name.clone(), ranges: Vec::new() };
    for tile in tiles {
        reads.push(part.range(tile.tile)?);
    }
    Ok(reads)
}

//! Written tiles of a dense array, and the use of metadata in place of written tiles.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tdb_condition::Matches;
use tdb_query::Pruner;
use tdb_query::scan::{KnownTile, Scan};
use tdb_snapshot::{Fragment, Result};

use crate::DenseReader;
use crate::layers::{Owned, TilePlace};
use crate::narrow::unwritten_pass;
use crate::planned::MANY_TILES;
use crate::shape::{Odometer, volume};
use crate::walk::TileGrid;

/// The tiles that intersect at least one fragment.
pub(super) struct Written {
    pub(super) grid: TileGrid,
    /// Tile numbers in the grid, ascending.
    tiles: Vec<u128>,
}

impl Written {
    /// Finds the written tiles and adds all unwritten cells to the scan. Returns `None` if the
    /// unwritten cells must be visited.
    pub(super) fn of<S: Scan>(reader: &mut DenseReader, scan: &mut S) -> Result<Option<Self>> {
        if !reader.query.region.is_single() || reader.query.boxes.is_some() {
            return Ok(None);
        }
        let axes = &reader.shape.axes;
        let bounds = axes.iter().map(|axis| axis.tiles().map_or(0..0, |(first, last)| first..last.saturating_add(1)));
        let Some(grid) = TileGrid::new(bounds.collect(), reader.shape.tile_order.clone()) else { return Ok(None) };
        let (mut tiles, mut different) = (Vec::new(), 0);
        for index in 0..reader.layers.len() {
            if !reader.is_believed(index)? {
                return Ok(None);
            }
            tiles.extend(reader.tiles_of(index, &grid));
            // Overlapping fragments contribute the same tiles.
            if tiles.len() > 2 * different + MANY_TILES as usize {
                tiles.sort_unstable();
                tiles.dedup();
                different = tiles.len();
            }
        }
        tiles.sort_unstable();
        tiles.dedup();
        let mut at = Vec::new();
        let cells_of = |number: &u128| {
            grid.tile(*number, &mut at);
            let axes = reader.shape.axes.iter().zip(&at);
            volume(&axes.map(|(axis, tile)| axis.positions_in(*tile)).collect::<Vec<_>>())
        };
        let cells = tiles.iter().map(cells_of).fold(0, u128::saturating_add);
        let unwritten = volume(&reader.shape.positions()).saturating_sub(cells);
        let is_done = unwritten == 0
            || match unwritten_pass(&reader.query) {
                Some(true) => scan.add_unwritten(unwritten),
                Some(false) => true,
                None => false,
            };
        Ok(is_done.then_some(Self { grid, tiles }))
    }

    /// Adds tiles by metadata and records these tiles in `known`. Returns the remaining tiles,
    /// except tiles without a cell that meets the condition.
    pub(super) fn without_known<S: Scan>(
        &self,
        reader: &mut DenseReader,
        scan: &mut S,
        known: &mut HashSet<(usize, u64)>,
    ) -> Result<Vec<u128>> {
        let array = reader.query.array.clone();
        let fragments = array.fragments()?;
        let mut facts_of: HashMap<usize, FragmentFacts<S::Known>> = HashMap::new();
        let candidates = reader.layers.within(&reader.cells_of_region());
        let (mut others, mut owned, mut at) = (Vec::new(), Vec::new(), Vec::new());
        for number in &self.tiles {
            self.grid.tile(*number, &mut at);
            let Some((fragment, place)) = reader.only_owner(&at, &candidates, &mut owned) else {
                others.push(*number);
                continue;
            };
            let facts = facts_of.entry(fragment).or_insert_with(|| FragmentFacts {
                known: scan.known(&fragments[fragment]),
                pruner: reader
                    .query
                    .filter
                    .as_ref()
                    .map(|filter| Pruner::new(&fragments[fragment], array.schema(), filter)),
            });
            match facts.matches(&fragments[fragment], place.tile) {
                Matches::None => {}
                Matches::All if facts.add(scan, place) => {
                    known.insert((fragment, place.tile));
                }
                Matches::All | Matches::Unknown => others.push(*number),
            }
        }
        Ok(others)
    }
}

struct FragmentFacts<K> {
    known: Option<K>,
    /// Present if the query has a condition.
    pruner: Option<Pruner>,
}

impl<K> FragmentFacts<K> {
    /// Adds a tile by statistics. Returns `false` if the statistics do not suffice.
    fn add<S: Scan<Known = K>>(&self, scan: &mut S, place: TilePlace) -> bool {
        let tile = KnownTile { tile: place.tile, cells: place.cells, partly: false };
        self.known.as_ref().is_some_and(|known| scan.add_known(known, tile).is_all())
    }

    fn matches(&self, fragment: &Fragment, tile: u64) -> Matches {
        match &self.pruner {
            None => Matches::All,
            Some(pruner) => pruner.tile(tile, fragment.tile_box(tile).as_ref()),
        }
    }
}

impl DenseReader {
    /// Returns `true` if the fragment of a layer has few tiles, or if it really stores tiles.
    pub(super) fn is_believed(&mut self, layer: usize) -> Result<bool> {
        let fragment = self.layers.get(layer).fragment;
        if self.query.array.fragments()?[fragment].tile_count() <= MANY_TILES {
            return Ok(true);
        }
        self.fields.load_fragments(&[fragment])?;
        Ok(self.fields.stores(fragment))
    }

    /// Returns the numbers of the tiles that intersect a layer.
    fn tiles_of(&self, layer: usize, grid: &TileGrid) -> Vec<u128> {
        let bounds = self.layers.get(layer).bounds.iter().zip(&self.shape.axes).zip(&grid.bounds);
        let along = bounds.map(|((cells, axis), tiles)| {
            let extent = u128::from(axis.extent);
            let tile = |cell: u128| u64::try_from(cell / extent).unwrap_or(u64::MAX);
            match cells.is_empty() {
                true => 0..0,
                false => tile(cells.start).max(tiles.start)..tile(cells.end - 1).saturating_add(1).min(tiles.end),
            }
        });
        let mut tiles = Odometer::new(along.collect(), self.shape.tile_order.clone());
        let mut numbers = Vec::new();
        while let Some(tile) = tiles.at() {
            numbers.push(grid.number(tile));
            tiles.advance();
        }
        numbers
    }

    /// Returns the requested cells along each dimension.
    fn cells_of_region(&self) -> Vec<Range<u128>> {
        self.shape.axes.iter().map(|axis| axis.cells().unwrap_or(0..0)).collect()
    }

    /// Returns the fragment and the location of a tile, if the whole tile is requested and a single
    /// fragment owns all cells of the tile.
    fn only_owner(&self, tile: &[u64], candidates: &[usize], owned: &mut Vec<Owned>) -> Option<(usize, TilePlace)> {
        let axes = || self.shape.axes.iter().zip(tile);
        if !axes().all(|(axis, tile)| axis.has_all_of(*tile)) {
            return None;
        }
        let along = axes().map(|(axis, tile)| {
            let start = u128::from(*tile) * u128::from(axis.extent);
            start..start + u128::from(axis.extent)
        });
        let cells: Vec<Range<u128>> = along.collect();
        owned.clear();
        self.layers.owners(&cells, candidates, owned);
        let [Owned { layer: Some(layer), .. }] = owned[..] else { return None };
        let layer = self.layers.get(layer);
        let place = layer.tile(tile).filter(|place| place.cell.is_none())?;
        Some((layer.fragment, place))
    }
}

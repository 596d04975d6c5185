//! Tiles of strings that can only be unfiltered completely.
//!
//! Some filters store whole strings together with the offsets of the cells. Reading one row of such
//! a tile requires unfiltering the whole tile. The tile is therefore unfiltered once, before the
//! units of work begin, and kept until no batch needs the tile. Units of work share the tile, as do
//! batches with an end inside the tile.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch, Workers};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::TileStream;
use tdb_types::saturating_len;

use crate::fields::{Field, Fields};
use crate::work::{Origin, Work};

/// Key of a tile: index of the field among the outputs, index of the fragment, index of the tile.
type Place = (usize, usize, u64);

/// Completely unfiltered tiles of strings.
#[derive(Debug, Default)]
pub(super) struct KeptTiles {
    tiles: BTreeMap<Place, Arc<CellBuffers>>,
    /// Buffers of dropped tiles, for reuse.
    spares: Vec<CellBuffers>,
    /// Memory limit in bytes.
    most: u64,
}

/// A tile to unfilter.
struct Missing {
    place: Place,
    cells: u64,
    memory: CellBuffers,
}

impl KeptTiles {
    /// Creates a store with a memory limit in bytes.
    pub(super) fn of(most: usize) -> Self {
        Self { most: most as u64, ..Self::default() }
    }

    /// Returns the tile, if kept.
    pub(super) fn get(&self, field: usize, fragment: usize, tile: u64) -> Option<&Arc<CellBuffers>> {
        self.tiles.get(&(field, fragment, tile))
    }

    /// Drops tiles not needed by the works, for the fields in `wanted`. Unfilters the needed tiles
    /// while memory permits.
    pub(super) fn prepare(
        &mut self,
        wanted: &[usize],
        (fields, workers): (&Fields, &Workers),
        works: &[Work],
    ) -> Result<()> {
        let mut needed = BTreeMap::new();
        for &index in wanted.iter().filter(|index| fields.outputs[**index].is_var()) {
            needed_of(index, fields.field(index), works, &mut needed);
        }
        self.forget(|place| wanted.contains(&place.0) && !needed.contains_key(place));
        if needed.is_empty() {
            return Ok(());
        }
        let mut left = self.tiles.values().fold(self.most, |left, tile| left.saturating_sub(tile.memory() as u64));
        let mut missing = Vec::new();
        let mut all = 0u64;
        for (place, (cells, bytes)) in needed {
            if self.tiles.contains_key(&place) || bytes > left {
                continue;
            }
            left -= bytes;
            all = all.saturating_add(bytes);
            missing.push(Missing { place, cells, memory: self.spares.pop().unwrap_or_default() });
        }
        // The remaining buffers would add to the memory in use.
        self.spares.clear();
        let found = workers.map(all, missing, |missing, scratch| missing.unfilter(fields, scratch))?;
        for (place, memory, is_there) in found {
            match is_there {
                true => drop(self.tiles.insert(place, Arc::new(memory))),
                false => self.spares.push(memory),
            }
        }
        Ok(())
    }

    fn forget(&mut self, is_over: impl Fn(&Place) -> bool) {
        let over: Vec<Place> = self.tiles.keys().filter(|place| is_over(place)).copied().collect();
        let gone = over.iter().filter_map(|place| self.tiles.remove(place));
        self.spares.extend(gone.filter_map(|tile| Arc::try_unwrap(tile).ok()));
    }
}

impl Missing {
    /// Unfilters a tile with embedded offsets. Other tiles are unfiltered later, chunk by chunk.
    /// The returned flag is `true` if the tile was unfiltered.
    fn unfilter(mut self, fields: &Fields, scratch: &mut TileScratch) -> Result<(Place, CellBuffers, bool)> {
        let (index, fragment, tile) = self.place;
        let Some(tiles) = fields.field(index).tiles_in(fragment) else { return Ok((self.place, self.memory, false)) };
        let mut stream = TileStream::new(&tiles.fixed, &tiles.name, tiles.tile_limit, scratch);
        let is_whole = stream.chunk_count(tile)? == 0;
        if is_whole {
            tiles.var(tile, saturating_len(self.cells), &mut self.memory, scratch)?;
        }
        Ok((self.place, self.memory, is_whole))
    }
}

/// Collects the needed tiles of a field with possibly embedded offsets. Records the cells and bytes
/// of each tile.
fn needed_of(index: usize, field: Field<'_>, works: &[Work], needed: &mut BTreeMap<Place, (u64, u64)>) {
    for source in works.iter().flat_map(|work| &work.sources) {
        let Origin::Tile { fragment, tile, cells } = source.origin else { continue };
        let Some(tiles) = field.tiles(source).filter(|tiles| tiles.can_carry_offsets()) else { continue };
        let bytes = tiles.var_size(tile).saturating_add(cells.saturating_add(1).saturating_mul(8));
        needed.insert((index, fragment, tile), (cells, bytes));
    }
}

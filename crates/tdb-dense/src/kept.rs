//! Tiles of strings that can only be unfiltered as a whole.
//!
//! Filters of whole strings carry the offsets of the cells, so that whoever wants one row of a tile has to unfilter all of it. Such a
//! tile is unfiltered once, before the works that need it begin, and kept until a batch doesn't need it any more: works share it, and
//! so do batches that end within it.

use std::collections::BTreeMap;
use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch, Workers};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::TileStream;
use tdb_types::saturating_len;

use crate::fields::{Field, Fields};
use crate::work::{Origin, Work};

/// A tile of a field: the field's place among the outputs, the fragment's, and the tile's number.
type Place = (usize, usize, u64);

/// Unfiltered tiles.
#[derive(Debug, Default)]
pub(super) struct KeptTiles {
    tiles: BTreeMap<Place, Arc<CellBuffers>>,
    /// Memory of tiles that went.
    spares: Vec<CellBuffers>,
    /// Bytes that tiles may take.
    most: u64,
}

/// A tile that is to be unfiltered.
struct Missing {
    place: Place,
    cells: u64,
    memory: CellBuffers,
}

impl KeptTiles {
    /// Of so many bytes at most.
    pub(super) fn of(most: usize) -> Self {
        Self { most: most as u64, ..Self::default() }
    }

    /// The tile, if it is kept.
    pub(super) fn get(&self, field: usize, fragment: usize, tile: u64) -> Option<&Arc<CellBuffers>> {
        self.tiles.get(&(field, fragment, tile))
    }

    /// Lets go what the works don't need of these fields, and unfilters what they do, as far as there is room.
    pub(super) fn prepare(
        &mut self,
        wanted: &[usize],
        (fields, workers): (&Fields, &Workers),
        works: &[Work],
    ) -> Result<()> {
        let mut needed = BTreeMap::new();
        for &index in wanted.iter().filter(|index| fields.outputs()[**index].is_var()) {
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
        // Memory of other tiles would come on top.
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
    /// Unfilters the tile, and says whether it carries its offsets: others are unfiltered chunk by chunk where they are needed.
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

/// Notes the tiles of a field that works need and that may be whole ones: how many cells each has, and how many bytes.
fn needed_of(index: usize, field: Field<'_>, works: &[Work], needed: &mut BTreeMap<Place, (u64, u64)>) {
    for source in works.iter().flat_map(|work| &work.sources) {
        let Origin::Tile { fragment, tile, cells } = source.origin else { continue };
        let Some(tiles) = field.tiles(source).filter(|tiles| tiles.can_carry_offsets()) else { continue };
        let bytes = tiles.var_size(tile).saturating_add(cells.saturating_add(1).saturating_mul(8));
        needed.insert((index, fragment, tile), (cells, bytes));
    }
}

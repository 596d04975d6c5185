//! Picked cells and their tiles. One thread writes them while another thread picks the next cells.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use tdb_cells::order::key::Key;
use tdb_snapshot::Result;

use super::columns::Column;
use super::input::Input;
use super::source::Source;
use super::tile::Loaded;

/// Cells that are consecutive both in the result and in a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    slot: u32,
    start: u32,
    len: u32,
}

impl Pick {
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // fewer than 2^32 open tiles and cells per tile
    pub(super) fn new(slot: usize, cells: Range<usize>) -> Self {
        Self { slot: slot as u32, start: cells.start as u32, len: cells.len() as u32 }
    }

    /// Returns `true` if `cells` continue this pick.
    #[inline]
    pub(super) fn goes_on_with(&self, slot: usize, cells: &Range<usize>) -> bool {
        self.slot() == slot && self.cells().end == cells.start
    }

    /// Extends the pick by a number of cells.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // tiles have fewer cells than 2^32
    pub(super) fn lengthen(&mut self, cells: usize) {
        self.len += cells as u32;
    }

    /// Returns the number of cells.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns the slot of the tile.
    pub(super) fn slot(&self) -> usize {
        self.slot as usize
    }

    /// Returns the indices of the cells in the tile.
    pub(super) fn cells(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// Cells that a merge has picked.
#[derive(Debug)]
pub(super) struct Picked<'a, K> {
    input: Input<'a>,
    /// Open tiles, by slot.
    tiles: Vec<Option<Arc<Loaded<K>>>>,
    pub(super) picks: Vec<Pick>,
}

impl<'a, K: Key> Picked<'a, K> {
    pub(super) fn new(input: Input<'a>, tiles: Vec<Option<Arc<Loaded<K>>>>, picks: Vec<Pick>) -> Self {
        Self { input, tiles, picks }
    }

    /// Returns the tile of a pick.
    pub(super) fn tile_of(&self, pick: &Pick) -> Option<&Loaded<K>> {
        self.tiles[pick.slot()].as_deref()
    }

    /// Returns the column of each open tile for a field of the new fragment, by slot.
    pub(super) fn columns(&self, field: usize) -> Vec<Column<'_>> {
        let columns = self.tiles.iter().map(|tile| match tile {
            Some(loaded) => self.input.sources[loaded.source].column(field, &loaded.columns),
            None => Column::Fill,
        });
        columns.collect()
    }

    pub(super) fn sources(&self) -> &[Source] {
        self.input.sources
    }

    /// Returns the number of cells of the pick's tile. Returns `None` if the pick does not cover
    /// the whole tile, or if the cells are not in stored order.
    pub(super) fn whole_tile(&self, pick: &Pick) -> Option<usize> {
        let loaded = self.tile_of(pick)?;
        let cells = loaded.columns.cells;
        (loaded.is_as_stored && pick.len() == cells).then_some(cells)
    }

    /// Unfilters the fields that picks need and that are not loaded yet.
    ///
    /// A stretch is a range of picks, with `true` if each pick is a whole tile. For a whole tile,
    /// fields that can be copied in filtered form are not unfiltered.
    pub(super) fn load_missing(
        &self,
        fields: usize,
        stretches: impl Iterator<Item = (Range<usize>, bool)>,
    ) -> Result<()> {
        let mut wanted = vec![None; self.tiles.len()];
        for (picks, is_copied) in stretches {
            for pick in &self.picks[picks] {
                let wanted = &mut wanted[pick.slot()];
                *wanted = Some(is_copied && *wanted != Some(false));
            }
        }
        let mut jobs = BTreeSet::new();
        for (slot, wanted) in wanted.into_iter().enumerate() {
            let (Some(is_copied), Some(loaded)) = (wanted, &self.tiles[slot]) else { continue };
            let source = &self.input.sources[loaded.source];
            let wanted = (0..fields).filter(|field| !(is_copied && source.copied(*field).is_some()));
            let missing = wanted.filter_map(|field| source.place_of(field));
            let missing = missing.filter(|place| loaded.columns.fields[*place].get().is_none());
            jobs.extend(missing.map(|place| (slot, place)));
        }
        let jobs = jobs.into_iter().filter_map(|(slot, place)| Some((place, self.tiles[slot].as_deref()?)));
        let jobs: Vec<(usize, &Loaded<K>)> = jobs.collect();
        let memory = |(place, loaded): &(usize, &Loaded<K>)| {
            self.input.sources[loaded.source].field_memory(*place, loaded.tile, loaded.columns.cells) as u64
        };
        let bytes = jobs.iter().map(memory).sum();
        self.input.array.workers().for_each(bytes, jobs, |(place, loaded), scratch| {
            let source = &self.input.sources[loaded.source];
            let cells = source.field(place, loaded.tile, loaded.columns.cells, scratch)?;
            // The field is always unset here, because only one job loads it.
            loaded.columns.fields[place].get_or_init(|| cells);
            Ok(())
        })
    }
}

//! Cells that were picked, with the tiles that they lie in: they are written while others are picked.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use tdb_cells::order::key::Key;
use tdb_snapshot::Result;

use super::columns::Column;
use super::input::Input;
use super::source::Source;
use super::tile::Loaded;

/// Cells that follow each other, also in a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    slot: u32,
    start: u32,
    len: u32,
}

impl Pick {
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // slots are files, and tiles have fewer cells than 2^32
    pub(super) fn new(slot: usize, cells: Range<usize>) -> Self {
        Self { slot: slot as u32, start: cells.start as u32, len: cells.len() as u32 }
    }

    /// Whether cells of a slot's tile are those that follow.
    #[inline]
    pub(super) fn goes_on_with(&self, slot: usize, cells: &Range<usize>) -> bool {
        self.slot() == slot && self.cells().end == cells.start
    }

    /// Takes so many more cells.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // tiles have fewer cells than 2^32
    pub(super) fn lengthen(&mut self, cells: usize) {
        self.len += cells as u32;
    }

    /// How many cells.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The slot of its tile.
    pub(super) fn slot(&self) -> usize {
        self.slot as usize
    }

    /// The cells of the tile.
    pub(super) fn cells(&self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// The next cells of a merge.
#[derive(Debug)]
pub(super) struct Picked<'a, K> {
    input: Input<'a>,
    /// The tiles that were open, by their slots.
    tiles: Vec<Option<Arc<Loaded<K>>>>,
    picks: Vec<Pick>,
}

impl<'a, K: Key> Picked<'a, K> {
    pub(super) fn new(input: Input<'a>, tiles: Vec<Option<Arc<Loaded<K>>>>, picks: Vec<Pick>) -> Self {
        Self { input, tiles, picks }
    }

    pub(super) fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// The tile that a pick is from.
    pub(super) fn tile_of(&self, pick: &Pick) -> Option<&Loaded<K>> {
        self.tiles[pick.slot()].as_deref()
    }

    /// A field of the new fragment in each tile that was open, by its slot.
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

    /// How many cells the tile has that a pick is from, if the pick has all of them and they lie in it as in the file.
    pub(super) fn whole_tile(&self, pick: &Pick) -> Option<usize> {
        let loaded = self.tile_of(pick)?;
        let cells = loaded.columns.cells;
        (loaded.is_as_stored && pick.len() == cells).then_some(cells)
    }

    /// Unfilters what is missing of the fields of the new fragment, for stretches of the picks: of tiles that become tiles all
    /// that can't be copied, else everything.
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
            // Of all that asks for it only one has it read: nobody else was first.
            loaded.columns.fields[place].get_or_init(|| cells);
            Ok(())
        })
    }
}

//! The wanted cells of a tile: unfiltering coordinates and times, and comparing them with the query.

use tdb_types::{Buffer, ordered_keys};

use super::conditions::Conditions;
use super::context::Context;
use super::coordinates::{Coordinates, indices};
use super::source::{SelectedTile, Source};
use super::table::Held;
use crate::tiles::{FieldTiles, TileScratch, VarTile};
use crate::{ArrayError, Result};

/// Unfiltered cells of one field of a tile.
#[derive(Debug)]
pub(super) enum TileData {
    /// Cells of fixed size.
    Fixed(Buffer),
    /// Cells of variable length.
    Var(VarTile),
}

impl TileData {
    /// Bytes of memory that the cells take.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Fixed(cells) => cells.capacity(),
            Self::Var(cells) => cells.data.capacity() + 8 * cells.offsets.capacity(),
        }
    }
}

/// Which cells of a tile are wanted, and what was unfiltered to find out.
#[derive(Debug)]
pub(super) struct WantedCells {
    /// The indices of the wanted cells, ascending; none if all are wanted.
    pub(super) kept: Option<Vec<u32>>,
    /// The coordinates of all cells, if asked for.
    pub(super) coordinates: Vec<Coordinates>,
    /// When each cell was written, if cells say so and it was asked for.
    pub(super) times: Option<Vec<u64>>,
    /// Which of the wanted cells stand for a deletion, so that they hide older ones without showing.
    pub(super) deleted: Option<Vec<bool>>,
    /// How often each cell is wanted, if that may be more than once.
    pub(super) repeats: Option<Vec<u32>>,
    /// Cells of selected fields that were unfiltered to find out, each with the field.
    pub(super) fields: Vec<(usize, Held)>,
}

/// What a reader wants to know of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Which cells are wanted.
    Cells,
    /// Also their coordinates.
    Coordinates,
    /// Also what decides between cells with equal coordinates.
    Versions,
}

impl WantedCells {
    /// How many cells of the tile are wanted.
    pub(super) fn len(&self, tile: &SelectedTile) -> usize {
        self.kept.as_ref().map_or(tile.cells as usize, Vec::len)
    }

    pub(super) fn load(
        context: &Context,
        source: &Source,
        tile: &SelectedTile,
        want: Want,
        scratch: &mut TileScratch,
    ) -> Result<Self> {
        let cells = tile.cells as usize;
        let mut wanted =
            Self { kept: None, coordinates: Vec::new(), times: None, deleted: None, repeats: None, fields: Vec::new() };
        let mut mask = None;
        let all = || vec![true; cells];
        let compared = source.compared_dimensions(context, tile);
        for dimension in 0..source.dimensions.len() {
            if want == Want::Cells && !compared[dimension] {
                continue;
            }
            let coordinates = wanted.coordinates(context, source, tile, dimension, scratch)?;
            if compared[dimension] {
                coordinates.keep(&context.regions[dimension], mask.get_or_insert_with(all));
            }
            if let Some(ranges) = &context.repeats {
                let repeats = wanted.repeats.get_or_insert_with(|| vec![1; cells]);
                coordinates.multiply(&ranges[dimension], repeats);
            }
            if want != Want::Cells {
                wanted.coordinates.push(coordinates);
            }
        }
        if let Some(times) = &source.times
            && (source.is_time_limited
                || want == Want::Versions
                || source.conditions.as_ref().is_some_and(Conditions::need_times))
        {
            let times = times_of(times, tile, scratch)?;
            if source.is_time_limited {
                let range = context.time;
                let mask = mask.get_or_insert_with(all).iter_mut();
                mask.zip(&times).for_each(|(wanted, time)| *wanted &= range.contains(*time, *time));
            }
            wanted.times = Some(times);
        }
        if let Some(deletions) = &source.deletions {
            let end = context.time.end;
            let deletions = times_of(deletions, tile, scratch)?;
            let deleted = deletions.iter().map(|time| *time <= end && *time != u64::MAX);
            if want == Want::Versions {
                wanted.deleted = Some(deleted.collect());
            } else {
                let mask = mask.get_or_insert_with(all).iter_mut();
                mask.zip(deleted).for_each(|(wanted, deleted)| *wanted &= !deleted);
            }
        }
        if let Some(conditions) = &source.conditions
            && mask.as_ref().is_none_or(|mask| mask.contains(&true))
        {
            let stays = conditions.evaluate(tile, &mut wanted, scratch)?;
            if want == Want::Versions {
                let deleted = wanted.deleted.get_or_insert_with(|| vec![false; cells]).iter_mut();
                deleted.zip(&stays).for_each(|(deleted, stays)| *deleted |= !stays);
            } else {
                let mask = mask.get_or_insert_with(all).iter_mut();
                mask.zip(&stays).for_each(|(wanted, stays)| *wanted &= stays);
            }
        }
        if let Some(mask) = mask
            && !mask.iter().all(|wanted| *wanted)
        {
            wanted.kept = Some(indices(&mask));
        }
        Ok(wanted)
    }

    /// Unfilters a dimension's coordinates, and keeps them if they are to be shown.
    fn coordinates(
        &mut self,
        context: &Context,
        source: &Source,
        tile: &SelectedTile,
        dimension: usize,
        scratch: &mut TileScratch,
    ) -> Result<Coordinates> {
        let cells = tile.cells as usize;
        let tiles = &source.dimensions[dimension];
        let space = &context.array.schema().dimensions()[dimension];
        let shown = context.field_of_dimension[dimension];
        if space.is_var() {
            let mut strings = VarTile::default();
            tiles.var(tile.tile, cells, &mut strings, scratch)?;
            if let Some(field) = shown {
                let copy = VarTile { offsets: strings.offsets.clone(), data: strings.data.clone() };
                self.fields.push((field, Held { cells: Some(TileData::Var(copy)), validity: None }));
            }
            return Ok(Coordinates::Strings(strings));
        }
        let mut values = Buffer::new();
        values.resize(fixed_len(tiles, cells, space.datatype().size())?);
        tiles.fixed(tile.tile, &mut values, scratch)?;
        let mut keys = Vec::with_capacity(cells);
        ordered_keys(space.physical(), &values, &mut keys);
        if let Some(field) = shown {
            self.fields.push((field, Held { cells: Some(TileData::Fixed(values)), validity: None }));
        }
        Ok(Coordinates::Keys(keys))
    }
}

/// A tile of times.
fn times_of(tiles: &FieldTiles, tile: &SelectedTile, scratch: &mut TileScratch) -> Result<Vec<u64>> {
    let cells = tile.cells as usize;
    fixed_len(tiles, cells, size_of::<u64>())?;
    let mut times = vec![0; cells];
    tiles.fixed(tile.tile, bytemuck::cast_slice_mut(&mut times), scratch)?;
    Ok(times)
}

/// Bytes of a tile of fixed-size cells, which must be within the limit.
pub(super) fn fixed_len(tiles: &FieldTiles, cells: usize, cell_size: usize) -> Result<usize> {
    let len = cells.checked_mul(cell_size).filter(|len| *len as u64 <= tiles.tile_limit);
    len.ok_or_else(|| ArrayError::Unsupported {
        file: tiles.fixed.path.clone(),
        what: format!(
            "tiles of {cells} cells of {cell_size} bytes are above the limit of {} bytes; raise the limit to read them",
            tiles.tile_limit
        ),
    })
}

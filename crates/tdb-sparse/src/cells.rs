//! Selection of a tile's matching cells. Coordinates and timestamps are unfiltered and compared
//! with the query.

use std::ops::Range;

use tdb_cells::order::coordinates::{Coordinates, indices, keep_strings, keys_of};
use tdb_cells::order::key_ranges::KeyRanges;
use tdb_cells::{CellBuffers, TileScratch};
use tdb_rtree::{Boxes, DimRange};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::{BLOCK, FieldTiles};
use tdb_types::ordered_keys;

use crate::boxed::Compared;
use crate::conditions::{Conditions, Fulfilled};
use crate::context::Context;
use crate::held::{Held, fixed_window, fixed_windows};
use crate::mask::Mask;
use crate::selected::SelectedTile;
use crate::source::Source;

/// The matching cells of a tile, and the data unfiltered for the selection.
#[derive(Debug, Default)]
pub(super) struct WantedCells {
    /// Indices of the matching cells, ascending. `None` if all cells match.
    pub(super) kept: Option<Vec<u32>>,
    /// Unfiltered coordinates. For fixed-size dimensions, only the bytes around matching cells are
    /// valid.
    dimensions: Vec<Option<CellBuffers>>,
    /// Timestamp of each cell, if the fragment stores timestamps and the read needs timestamps.
    pub(super) times: Option<Vec<u64>>,
    /// Marks cells that are deleted or fail a condition, if versions are requested. A marked cell
    /// hides older cells but is not emitted. `None` if no cell is marked.
    pub(super) deleted: Option<Vec<bool>>,
    /// Cells of selected fields that were unfiltered during the selection, with field indices.
    pub(super) fields: Vec<(usize, Held)>,
}

/// Requested level of detail for a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Only the indices of matching cells.
    Cells,
    /// Also coordinates.
    Coordinates,
    /// Also timestamps and deletions, to decide between cells with equal coordinates.
    Versions,
}

/// A request to select the matching cells of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) context: &'a Context,
    pub(super) source: &'a Source,
    pub(super) tile: &'a SelectedTile,
    pub(super) want: Want,
}

impl WantedCells {
    /// Returns the number of matching cells.
    pub(super) fn len(&self, tile: &SelectedTile) -> usize {
        self.kept.as_ref().map_or(tile.cells as usize, Vec::len)
    }

    /// Selects the matching cells. Unfilters only the data needed for the selection.
    pub(super) fn load(look: Look<'_>, scratch: &mut TileScratch) -> Result<Self> {
        let mut wanted = Self::default();
        let mut mask = Mask::new(std::mem::take(&mut scratch.mask), look.tile.cells as usize);
        let looked = wanted.compare(look, &mut mask, scratch);
        wanted.kept = mask.kept();
        if look.tile.given > 0 {
            let kept = wanted.kept.get_or_insert_with(|| (0..look.tile.cells).collect());
            kept.drain(..kept.len().min(look.tile.given as usize));
        }
        scratch.mask = mask.flags;
        looked?;
        if look.want == Want::Cells {
            wanted.hold_coordinates(look);
        }
        Ok(wanted)
    }

    /// Takes the coordinates of the matching cells, or of the whole tile if `all`. Call at most
    /// once, and only if the request included coordinates.
    pub(super) fn take_coordinates(&mut self, look: Look<'_>, all: bool) -> Vec<Coordinates> {
        let context = look.context;
        let kept = self.kept.as_deref().filter(|_| !all);
        let dimensions = context.array.schema().dimensions().iter().zip(&self.dimensions);
        let coordinates = dimensions.map(|(dimension, data)| match data {
            Some(strings) if dimension.is_var() => {
                let mut copy = context.spares.var();
                copy.clear();
                match kept {
                    None => copy.push(&strings.cells(1), false),
                    Some(kept) => copy.push_some(&strings.cells(1), kept, false),
                }
                Coordinates::Strings(copy)
            }
            Some(CellBuffers { values, .. }) => {
                let mut keys = context.spares.keys();
                match kept {
                    None => ordered_keys(dimension.physical(), values, &mut keys),
                    Some(kept) => keys_of(dimension.physical(), values, kept, &mut keys),
                }
                Coordinates::Keys(keys)
            }
            None => Coordinates::Keys(Vec::new()),
        });
        let coordinates: Vec<_> = coordinates.collect();
        self.hold_coordinates(look);
        coordinates
    }

    /// Keeps coordinates of selected dimensions for the result. Drops fixed-size coordinates if few
    /// cells match, because unfiltering a few chunks again costs less than the memory.
    fn hold_coordinates(&mut self, look: Look<'_>) {
        let Look { context, source, tile, .. } = look;
        /// Minimum share of matching cells, as a divisor.
        const WORTH_HOLDING: usize = 16;
        let wanted = self.len(tile);
        for (dimension, data) in std::mem::take(&mut self.dimensions).into_iter().enumerate() {
            let Some(data) = data else { continue };
            let can_leave = data.offsets.is_empty() && source.dimensions[dimension].combined.is_none();
            let worth = wanted > 0 && (!can_leave || wanted >= tile.cells as usize / WORTH_HOLDING);
            let mut held = Held::of(data);
            match context.field_of_dimension[dimension] {
                Some(field) if worth && !self.fields.iter().any(|(other, _)| *other == field) => {
                    self.fields.push((field, held));
                }
                _ => context.spares.take_back(&mut held),
            }
        }
    }

    fn compare(&mut self, look: Look<'_>, mask: &mut Mask, scratch: &mut TileScratch) -> Result<()> {
        let Look { source, tile, want, .. } = look;
        self.compare_coordinates(look, mask, scratch)?;
        if mask.is_empty() {
            return Ok(());
        }
        self.compare_times(look, mask, scratch)?;
        if let Some(conditions) = source.conditions.as_ref().filter(|_| !mask.is_empty()) {
            let Fulfilled { stays, fields } = conditions.evaluate(tile, self.times.as_deref(), scratch)?;
            // Keep unfiltered data of selected fields for the result.
            for (field, held) in fields {
                if !self.fields.iter().any(|(other, _)| *other == field) {
                    self.fields.push((field, held));
                }
            }
            if want == Want::Versions {
                let deleted = self.deleted.get_or_insert_with(|| vec![false; mask.len()]).iter_mut();
                deleted.zip(&stays).for_each(|(deleted, stays)| *deleted |= !stays);
            } else {
                mask.flags().iter_mut().zip(&stays).for_each(|(wanted, stays)| *wanted &= stays);
            }
        }
        Ok(())
    }

    fn compare_coordinates(&mut self, look: Look<'_>, mask: &mut Mask, scratch: &mut TileScratch) -> Result<()> {
        let Look { context, source, tile, want } = look;
        let compared = context.compared(source, tile);
        rule_out_blocks(look, &compared, mask);
        self.dimensions.resize_with(source.dimensions.len(), || None);
        for dimension in compared.dimensions(&source.mbr(tile.tile)) {
            if want == Want::Cells && !compared.needs(dimension) {
                continue;
            }
            // Skip cells excluded by earlier dimensions.
            let runs = mask.runs();
            if runs.is_empty() {
                return Ok(());
            }
            let data = unfilter_coordinates(look, dimension, &runs, scratch)?;
            let space = &context.array.schema().dimensions()[dimension];
            for ranges in compared.of_dimension(dimension) {
                let flags = mask.flags();
                if space.is_var() {
                    keep_strings(&data, ranges, flags);
                    continue;
                }
                let physical = space.physical();
                let compared = KeyRanges::new(ranges, runs.iter().map(Range::len).sum());
                let mut keys = context.spares.keys();
                for run in &runs {
                    let bytes = run.start * physical.size()..run.end * physical.size();
                    compared.keep(physical, &data.values[bytes], &mut flags[run.clone()], &mut keys);
                }
                context.spares.give_coordinates(Coordinates::Keys(keys));
            }
            self.dimensions[dimension] = Some(data);
        }
        if let (Some(boxes), Some(some)) = (&context.boxes, &compared.boxes) {
            self.compare_boxes(context, boxes, some, mask);
        }
        Ok(())
    }

    /// Compares the remaining cells with boxes, using all coordinates together.
    fn compare_boxes(&self, context: &Context, boxes: &Boxes, some: &[u32], mask: &mut Mask) {
        let flags = mask.flags();
        let cells = indices(flags);
        let mut keys = context.spares.keys();
        let dimensions = context.array.schema().dimensions().iter().zip(&self.dimensions).enumerate();
        let places = dimensions.map(|(dimension, (space, data))| {
            let mut places = Vec::with_capacity(cells.len());
            match data {
                Some(data) if space.is_var() => {
                    let strings = cells.iter().map(|cell| data.string(*cell as usize));
                    boxes.places_of_strings(dimension, strings, &mut places);
                }
                Some(data) => {
                    keys.clear();
                    keys_of(space.physical(), &data.values, &cells, &mut keys);
                    boxes.places_of_keys(dimension, &keys, &mut places);
                }
                None => {}
            }
            places
        });
        let places: Vec<Vec<u32>> = places.collect();
        for (cell, inside) in cells.iter().zip(boxes.contain(some, &places)) {
            flags[*cell as usize] = inside;
        }
        context.spares.give_coordinates(Coordinates::Keys(keys));
    }

    fn compare_times(&mut self, look: Look<'_>, mask: &mut Mask, scratch: &mut TileScratch) -> Result<()> {
        let Look { context, source, tile, want } = look;
        if let Some(times) = &source.times
            && (source.is_time_limited
                || want == Want::Versions
                || source.conditions.as_ref().is_some_and(Conditions::need_times))
        {
            let times = times_of(times, tile, scratch)?;
            if source.is_time_limited {
                let range = context.time;
                let flags = mask.flags().iter_mut();
                flags.zip(&times).for_each(|(wanted, time)| *wanted &= range.contains(*time, *time));
            }
            self.times = Some(times);
        }
        if let Some(deletions) = &source.deletions {
            let end = context.time.end;
            let deletions = times_of(deletions, tile, scratch)?;
            let deleted = deletions.iter().map(|time| *time <= end && *time != u64::MAX);
            if want == Want::Versions {
                self.deleted = Some(deleted.collect());
            } else {
                mask.flags().iter_mut().zip(deleted).for_each(|(wanted, deleted)| *wanted &= !deleted);
            }
        }
        Ok(())
    }
}

/// Excludes blocks outside of the selection, by coordinate bounds recorded in earlier reads.
fn rule_out_blocks(look: Look<'_>, compared: &Compared<'_>, mask: &mut Mask) {
    let Look { source, tile, .. } = look;
    for (dimension, tiles) in source.dimensions.iter().enumerate() {
        let mut all = compared.of_dimension(dimension).peekable();
        let Some(known) = all.peek().and_then(|_| tiles.blocks.of(tile.tile)) else { continue };
        for ranges in all {
            for (flags, (lo, hi)) in mask.flags().chunks_mut(BLOCK).zip(&*known) {
                if DimRange::narrowed(ranges, &DimRange::Fixed { lo: *lo, hi: *hi }).is_empty() {
                    flags.fill(false);
                }
            }
        }
    }
}

/// Unfilters a dimension's coordinates. Only coordinates within `runs` are valid.
fn unfilter_coordinates(
    look: Look<'_>,
    dimension: usize,
    runs: &[Range<usize>],
    scratch: &mut TileScratch,
) -> Result<CellBuffers> {
    let Look { context, source, tile, .. } = look;
    let cells = tile.cells as usize;
    let tiles = &source.dimensions[dimension];
    let space = &context.array.schema().dimensions()[dimension];
    if space.is_var() {
        let mut strings = context.spares.var();
        tiles.var(tile.tile, cells, &mut strings, scratch)?;
        return Ok(strings);
    }
    let size = space.datatype().size();
    let mut values = context.spares.buffer(tiles.fixed_len(cells, size)?);
    if tiles.combined.is_none() {
        fixed_windows(tiles, &tiles.fixed, tile.tile, (cells, size), runs, &mut values, scratch)?;
    } else {
        tiles.fixed(tile.tile, &mut values, scratch)?;
    }
    if context.learns && cells > BLOCK {
        let mut keys = context.spares.keys();
        tiles.blocks.learn((tile.tile, cells), runs, (space.physical(), &values), &mut keys);
        context.spares.give_coordinates(Coordinates::Keys(keys));
    }
    Ok(CellBuffers { values, ..CellBuffers::default() })
}

/// Unfilters the timestamps of a tile.
fn times_of(tiles: &FieldTiles, tile: &SelectedTile, scratch: &mut TileScratch) -> Result<Vec<u64>> {
    let cells = tile.cells as usize;
    tiles.fixed_len(cells, size_of::<u64>())?;
    let mut times = vec![0; cells];
    let bytes = bytemuck::cast_slice_mut(&mut times);
    fixed_window(tiles, &tiles.fixed, tile.tile, (cells, size_of::<u64>()), 0..cells, bytes, scratch)?;
    Ok(times)
}

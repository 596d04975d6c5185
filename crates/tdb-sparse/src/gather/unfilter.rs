//! Unfiltering of a batch's tiles.

use std::ops::Range;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::tiles::{ByteRun, ByteRuns, FieldTiles, PartTiles, TileRequest, TileStream};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::{Buffer, saturating_len};

use super::layout::{BatchLayout, Use};
use crate::context::Context;
use crate::held::{Held, fixed_window};
use crate::table::{Run, Tile, TileTable};

/// A fixed-size part of a selected field.
#[derive(Clone, Copy, Debug)]
pub(super) enum FixedPart {
    /// The values.
    Values { field: usize, size: usize },
    /// The validity: a byte per cell.
    Validity { field: usize },
}

impl FixedPart {
    pub(super) fn field(self) -> usize {
        match self {
            Self::Values { field, .. } | Self::Validity { field } => field,
        }
    }

    /// Returns the bytes per cell.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Values { size, .. } => size,
            Self::Validity { .. } => 1,
        }
    }

    fn is_held(self, held: &Held) -> bool {
        match self {
            Self::Values { .. } => held.cells.has_values(),
            Self::Validity { .. } => !held.cells.validity.is_empty(),
        }
    }

    /// Returns the held bytes. Empty if the cells are already in the column.
    pub(super) fn bytes(self, held: &Held) -> &[u8] {
        match self {
            Self::Values { .. } => &held.cells.values,
            Self::Validity { .. } => &held.cells.validity,
        }
    }

    /// Returns the bytes of separate memory needed to unfilter the tile.
    pub(super) fn own_bytes(self, context: &Context, used: &Use, tile: &Tile) -> usize {
        let tiles = context.sources[tile.source].fields[self.field()].as_deref();
        let needs_none = self.is_held(&tile.fields[self.field()]) || used.whole || is_streamed(used, tile, tiles, self);
        if needs_none { 0 } else { tile.cells.saturating_mul(self.size()) }
    }

    fn hold(self, held: &mut Held, buffer: Buffer) {
        match self {
            Self::Values { .. } => held.cells.values = buffer,
            Self::Validity { .. } => held.cells.validity = buffer,
        }
    }

    /// Returns the file of the part if windows of tiles can be read.
    fn file(self, tiles: &FieldTiles) -> Option<&PartTiles> {
        match self {
            Self::Values { .. } => Some(&tiles.fixed).filter(|_| tiles.combined.is_none()),
            Self::Validity { .. } => tiles.validity.as_ref(),
        }
    }

    /// Unfilters a window of the tile's cells, or the whole tile if windows cannot be read.
    pub(super) fn window(
        self,
        tiles: &FieldTiles,
        (tile, cells): (u64, usize),
        window: Range<usize>,
        out: &mut [u8],
        scratch: &mut TileScratch,
    ) -> Result<()> {
        match (self.file(tiles), self) {
            (Some(file), _) => fixed_window(tiles, file, tile, (cells, self.size()), window, out, scratch),
            (None, Self::Values { .. }) => tiles.fixed(tile, out, scratch),
            (None, Self::Validity { .. }) => tiles.validity(tile, out, scratch),
        }
    }

    /// Writes fill values for a fragment that lacks the field.
    pub(super) fn fill(self, context: &Context, out: &mut [u8]) {
        let field = &context.fields[self.field()];
        match self {
            Self::Values { .. } => {
                out.chunks_exact_mut(field.fill.len().max(1)).for_each(|cell| cell.copy_from_slice(&field.fill));
            }
            Self::Validity { .. } => out.fill(u8::from(field.fill_valid)),
        }
    }
}

/// A tile to unfilter.
struct Job<'a> {
    slot: u32,
    tiles: Option<&'a FieldTiles>,
    tile: u64,
    cells: usize,
    target: Target<'a>,
}

/// Destination of an unfiltered tile.
enum Target<'a> {
    /// The tile's place in the column, for all cells.
    Place(&'a mut [u8]),
    /// A place in the column for these runs of the tile, in sequence.
    Runs(&'a mut [u8], &'a [Run]),
    /// A separate buffer of this length in bytes, and the needed cells.
    Own(usize, Range<usize>),
}

/// Unfilters cells of the tiles in `uses`. If the cells of a tile are consecutive in the column,
/// they go directly to `out`, or else to a separate buffer for the tile. Skips chunks without a
/// required cell. Cells needed by later batches are kept within the limit of `room`, which shrinks
/// accordingly.
pub(super) fn unfilter_fixed(
    context: &Context,
    tiles: &mut TileTable,
    (layout, uses): (&BatchLayout<'_>, &[Use]),
    part: FixedPart,
    (out, room): (&mut [u8], &mut usize),
) -> Result<()> {
    let (field, size) = (part.field(), part.size());
    let filters = context.array.schema().filters_of(context.fields[field].field);
    let mut jobs = Vec::with_capacity(uses.len());
    let (mut rest, mut passed, mut work) = (out, 0, 0_u64);
    for used in uses {
        let tile = tiles.get(used.slot);
        if part.is_held(&tile.fields[field]) {
            continue;
        }
        let (number, cells) = (tile.tile, tile.cells);
        let len = tile_len(context, (tile.source, tile.cells), field, size)?;
        let field_tiles = context.sources[tile.source].fields[field].as_deref();
        let is_placed = used.whole || is_streamed(used, tile, field_tiles, part);
        let target = if is_placed {
            let (_, from) = std::mem::take(&mut rest).split_at_mut(used.start * size - passed);
            let (place, after) = from.split_at_mut((used.end - used.start) * size);
            (rest, passed) = (after, used.end * size);
            match used.whole {
                true => Target::Place(place),
                false => Target::Runs(place, &layout.runs[used.first_run..][..used.runs]),
            }
        } else {
            let is_kept = tile.is_wanted_after(used.runs) && take_room(room, len);
            let window = match is_kept {
                true => 0..tile.cells,
                false => used.first_cell as usize..used.end_cell as usize,
            };
            tiles.get_mut(used.slot).fields[field].passing |= !is_kept;
            Target::Own(len, window)
        };
        work += filters.work(len as u64);
        jobs.push(Job { slot: used.slot, tiles: field_tiles, tile: number, cells, target });
    }
    let own = context.array.workers().map(work, jobs, |job, scratch| unfilter(context, part, job, scratch))?;
    for (slot, buffer) in own.into_iter().flatten() {
        part.hold(&mut tiles.get_mut(slot).fields[field], buffer);
    }
    Ok(())
}

/// Takes bytes from `room`. Returns `false` if `room` is too small.
fn take_room(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

/// Returns `true` if cells go directly from the tile's chunks to the column.
fn is_streamed(used: &Use, tile: &Tile, tiles: Option<&FieldTiles>, part: FixedPart) -> bool {
    used.together && !tile.is_wanted_after(used.runs) && tiles.is_some_and(|tiles| part.file(tiles).is_some())
}

/// Unfilters a tile. Returns the slot and buffer if the tile got a separate buffer.
fn unfilter(
    context: &Context,
    part: FixedPart,
    job: Job<'_>,
    scratch: &mut TileScratch,
) -> Result<Option<(u32, Buffer)>> {
    let Job { slot, tiles, tile, cells, target } = job;
    let Some(tiles) = tiles else {
        return Ok(match target {
            Target::Place(place) | Target::Runs(place, _) => {
                part.fill(context, place);
                None
            }
            Target::Own(len, _) => {
                let mut buffer = context.spares.buffer(len);
                part.fill(context, &mut buffer);
                Some((slot, buffer))
            }
        });
    };
    match target {
        Target::Place(place) => part.window(tiles, (tile, cells), 0..cells, place, scratch)?,
        Target::Runs(place, runs) => stream(tiles, part, (tile, cells), runs, place, scratch)?,
        Target::Own(len, window) => {
            let mut buffer = context.spares.buffer(len);
            part.window(tiles, (tile, cells), window, &mut buffer, scratch)?;
            return Ok(Some((slot, buffer)));
        }
    }
    Ok(None)
}

/// Unfilters runs of a tile's cells into `out`, in sequence.
fn stream(
    tiles: &FieldTiles,
    part: FixedPart,
    (tile, cells): (u64, usize),
    runs: &[Run],
    out: &mut [u8],
    scratch: &mut TileScratch,
) -> Result<()> {
    let Some(file) = part.file(tiles) else { return Ok(()) };
    let size = part.size();
    let mut to = 0;
    let place = |run: &Run| {
        let len = run.len as usize * size;
        let place = ByteRun { from: u64::from(run.start) * size as u64, len: len as u64, to };
        to += len;
        place
    };
    let mut places: Vec<ByteRun> = runs.iter().map(place).collect();
    // A merge sorts the cells of a tile, so that runs may descend in the stored tile.
    if !places.is_sorted_by_key(|run| run.from) {
        places.sort_unstable_by_key(|run| run.from);
    }
    let until = file.range(tile)?.end;
    let request = TileRequest { tile, size: (cells * size) as u64, until };
    TileStream::new(file, &tiles.name, tiles.tile_limit, scratch).read(request, &mut ByteRuns::new(&places), out)
}

/// Unfilters whole tiles of variable-length cells. `room` is as in [`unfilter_fixed`].
pub(super) fn unfilter_var(
    context: &Context,
    tiles: &mut TileTable,
    uses: &[Use],
    field: usize,
    room: &mut usize,
) -> Result<()> {
    let mut jobs = Vec::with_capacity(uses.len());
    let mut bytes = 0_u64;
    for used in uses {
        let tile = tiles.get(used.slot);
        if !tile.fields[field].cells.has_values() {
            bytes += tile_len(context, (tile.source, tile.cells), field, size_of::<u64>())? as u64;
            jobs.push((used, tile.source, tile.tile, tile.cells, context.spares.var()));
        }
    }
    let fill = &context.fields[field].fill;
    let own = context.array.workers().map(bytes, jobs, |(used, source, tile, cells, mut out), scratch| {
        match &context.sources[source].fields[field] {
            Some(tiles) => tiles.var(tile, cells, &mut out, scratch)?,
            None => fill_var(fill, cells, &mut out),
        }
        Ok::<_, ArrayError>((used, out))
    })?;
    for (used, data) in own {
        let tile = tiles.get_mut(used.slot);
        let is_kept = tile.is_wanted_after(used.runs) && take_room(room, data.memory());
        let held = &mut tile.fields[field];
        held.passing |= !is_kept;
        (held.cells.values, held.cells.offsets) = (data.values, data.offsets);
    }
    Ok(())
}

/// Returns the bytes needed to unfilter a tile of variable-length cells.
pub(super) fn own_var_bytes(context: &Context, tile: &Tile, field: usize) -> usize {
    if tile.fields[field].cells.has_values() {
        return 0;
    }
    let data = match &context.sources[tile.source].fields[field] {
        // Tiles with a larger claimed size are rejected later.
        Some(tiles) => saturating_len(tiles.var_size(tile.tile).min(tiles.tile_limit)),
        None => tile.cells.saturating_mul(context.fields[field].fill.len()),
    };
    data.saturating_add(tile.cells.saturating_mul(size_of::<u64>()))
}

/// Fills `out` with `cells` copies of a fill value.
pub(super) fn fill_var(fill: &[u8], cells: usize, out: &mut CellBuffers) {
    out.offsets.clear();
    out.offsets.extend((0..=cells as u64).map(|cell| cell * fill.len() as u64));
    out.values.resize(cells * fill.len());
    out.values.chunks_exact_mut(fill.len().max(1)).for_each(|cell| cell.copy_from_slice(fill));
}

/// Returns the size in bytes of an unfiltered tile, for cells of `size` bytes. Fails if the size
/// exceeds the limit.
pub(crate) fn tile_len(context: &Context, (source, cells): (usize, usize), field: usize, size: usize) -> Result<usize> {
    let source = &context.sources[source];
    if let Some(tiles) = &source.fields[field] {
        return tiles.fixed_len(cells, size);
    }
    let limit = context.array.limits().tile_bytes;
    let fill = context.fields[field].fill.len().max(size);
    let fits = cells.checked_mul(fill).is_some_and(|len| len as u64 <= limit);
    fits.then(|| cells * size).ok_or_else(|| ArrayError::Unsupported {
        file: context.array.storage().describe(source.fragment.folder()),
        what: format!("tiles of {cells} cells exceed the limit of {limit} bytes; raise the limit to read them"),
    })
}

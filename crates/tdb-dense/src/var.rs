//! Reads variable-length cells in two passes. The first pass determines the length of each cell.
//! The second pass copies the bytes to the positions that follow from the lengths.

use std::sync::Arc;

use tdb_cells::{CellBuffers, Pool, TileScratch};
use tdb_snapshot::tiles::{ByteRun, ByteRuns, FieldTiles, TileRequest, TileStream, tile_len};
use tdb_snapshot::{ArrayError, Result};
use tdb_types::saturating_len;

use crate::boxes::Boxes;
use crate::copy::BoxCopy;
use crate::fields::Field;
use crate::fixed::{Reach, each_file, repeat};
use crate::kept::KeptTiles;
use crate::work::{Origin, Source, Work};

/// Locations of cell bytes, for each source of a [`Work`].
#[derive(Debug, Default)]
pub(super) struct Found {
    sources: Vec<FoundSource>,
}

/// Location of the bytes of a source's cells.
#[derive(Debug)]
struct FoundSource {
    /// Index of the source in the work.
    source: usize,
    /// Byte ranges in tile order. `to` is a cell index until all lengths are known, and a byte
    /// position afterwards.
    runs: Vec<ByteRun>,
    bytes: FoundBytes,
}

/// The data that runs refer to.
#[derive(Debug)]
enum FoundBytes {
    /// A tile to unfilter in the second pass.
    Stored,
    /// The requested bytes of a tile that the first pass had to unfilter.
    Copied(Vec<u8>),
    /// A shared tile from [`KeptTiles`].
    Kept(Arc<CellBuffers>),
}

/// Determines the length in bytes of each cell of `work`, and the locations of the bytes.
pub(super) fn lengths(
    (field, index, kept): (Field<'_>, usize, &KeptTiles),
    work: &Work,
    lengths: &mut [u64],
    scratch: &mut TileScratch,
) -> Result<Found> {
    let mut found = Found::default();
    let mut first = 0;
    each_file(field, work, |sources, tiles| {
        match tiles {
            Some(tiles) => {
                let kept = |fragment, tile| kept.get(index, fragment, tile);
                let mut finder = Finder { tiles, spares: field.spares, cells: 0, lengths, offsets: Vec::new() };
                finder.find((sources, first), kept, &mut found, scratch)?;
            }
            None => {
                let len = field.output.fill.len() as u64;
                let copies = sources.iter().flat_map(|source| &source.copies);
                copies.for_each(|copy| copy.runs(|_, to, cells| lengths[to..to + cells].fill(len)));
            }
        }
        first += sources.len();
        Ok(())
    })?;
    Ok(found)
}

/// Writes the values of the cells of `work`. `offsets` maps a cell index to the start of the cell
/// in `result`, and the number of cells to the end of the last cell.
pub(super) fn values(
    field: Field<'_>,
    work: &Work,
    found: Found,
    offsets: impl Fn(usize) -> usize,
    result: &mut [u8],
    scratch: &mut TileScratch,
) -> Result<()> {
    let fill = &field.output.fill[..];
    for source in work.sources.iter().filter(|source| field.tiles(source).is_none()) {
        for copy in &source.copies {
            copy.runs(|_, to, cells| repeat(fill, &mut result[offsets(to)..offsets(to + cells)]));
        }
    }
    let mut found = found.sources;
    for found in &mut found {
        found.runs.iter_mut().for_each(|run| run.to = offsets(run.to));
    }
    for group in found.chunk_by_mut(|a, b| work.sources[a.source].fragment() == work.sources[b.source].fragment()) {
        let sources: Vec<&Source> = group.iter().map(|found| &work.sources[found.source]).collect();
        let Some(tiles) = sources.first().and_then(|source| field.tiles(source)) else { continue };
        let Some((part, _)) = &tiles.var else { continue };
        let mut stream = TileStream::new(part, &tiles.name, tiles.tile_limit, scratch);
        for (found, source) in group.iter_mut().zip(sources) {
            match std::mem::replace(&mut found.bytes, FoundBytes::Stored) {
                FoundBytes::Stored => {}
                FoundBytes::Copied(bytes) => {
                    copy_runs(&found.runs, &bytes, result);
                    field.spares.give(bytes);
                    continue;
                }
                FoundBytes::Kept(tile) => {
                    copy_runs(&found.runs, &tile.values, result);
                    continue;
                }
            }
            let Origin::Tile { tile, .. } = source.origin else { continue };
            let request = TileRequest { tile, size: tiles.var_size(tile), until: 0 };
            stream.read(request, &mut ByteRuns::new(&found.runs), result)?;
        }
    }
    Ok(())
}

fn copy_runs(runs: &[ByteRun], bytes: &[u8], result: &mut [u8]) {
    for run in runs {
        let len = run.len as usize;
        result[run.to..][..len].copy_from_slice(&bytes[run.from as usize..][..len]);
    }
}

/// A search for variable-length cells in the tiles of one field of one fragment.
struct Finder<'a, 'l> {
    tiles: &'a FieldTiles,
    spares: &'a Pool<Vec<u8>>,
    /// Number of cells of the current tile.
    cells: u64,
    /// Lengths of the work's cells.
    lengths: &'l mut [u64],
    /// Offsets of a tile's cells in bytes, followed by the end of the last cell.
    offsets: Vec<u64>,
}

impl Finder<'_, '_> {
    /// Finds the cells of sources. `first` is the index of the first source in the work.
    fn find<'k>(
        &mut self,
        (sources, first): (&[Source], usize),
        kept: impl Fn(usize, u64) -> Option<&'k Arc<CellBuffers>>,
        found: &mut Found,
        scratch: &mut TileScratch,
    ) -> Result<()> {
        let part = &self.tiles.fixed;
        let mut reach = Reach::new(part, sources);
        for (index, source) in sources.iter().enumerate() {
            let Origin::Tile { fragment, tile, cells } = source.origin else { continue };
            self.cells = cells;
            if let Some(kept) = kept(fragment, tile) {
                let runs = runs_of(&source.copies, &kept.offsets, 0, self.lengths);
                found.sources.push(FoundSource { source: first + index, runs, bytes: FoundBytes::Kept(kept.clone()) });
                continue;
            }
            let until = reach.until(index)?;
            let mut stream = TileStream::new(part, &self.tiles.name, self.tiles.tile_limit, scratch);
            let embedded = self.tiles.can_carry_offsets() && stream.chunk_count(tile)? == 0;
            let (runs, bytes) = match embedded {
                true => self.embedded(tile, &source.copies, scratch)?,
                false => (self.stored(tile, until, &source.copies, &mut stream)?, FoundBytes::Stored),
            };
            found.sources.push(FoundSource { source: first + index, runs, bytes });
        }
        Ok(())
    }

    /// Finds the cells of a tile with a separate offsets file.
    fn stored(
        &mut self,
        tile: u64,
        until: u64,
        copies: &[BoxCopy],
        stream: &mut TileStream<'_>,
    ) -> Result<Vec<ByteRun>> {
        let request = TileRequest { tile, size: self.cells.saturating_mul(8), until };
        stream.check_size(request)?;
        // The size of the tile determines the length of the last cell. The size is checked here,
        // because memory for the values is allocated before the values are read.
        let size = self.tiles.checked_var_size(tile)?;
        let start = copies.first().map_or(0, |copy| copy.from);
        let end = copies.iter().map(|copy| copy.last() + 1).max().unwrap_or(start);
        // A cell ends where the next cell begins. The last cell of a tile ends with the tile.
        let stored = (end + 1).min(self.cells) - start;
        let stored = tile_len("the offsets of the tile", stored.saturating_mul(8), self.tiles.tile_limit)
            .map_err(|source| self.tiles.fixed.error(tile, &self.tiles.name, source))?
            / 8;
        self.offsets.clear();
        self.offsets.resize(stored, 0);
        let span = [BoxCopy::run(start, 0, stored)];
        stream.read(request, &mut Boxes::new(&span, 8), bytemuck::cast_slice_mut(&mut self.offsets))?;
        if end == self.cells {
            self.offsets.push(size);
        }
        self.check(tile, start, size)?;
        Ok(runs_of(copies, &self.offsets, start, self.lengths))
    }

    /// Finds the cells of a tile of strings with embedded offsets. Only the entire tile can be
    /// unfiltered. Copies the requested bytes, so that the second pass need not unfilter the tile
    /// again.
    fn embedded(
        &mut self,
        tile: u64,
        copies: &[BoxCopy],
        scratch: &mut TileScratch,
    ) -> Result<(Vec<ByteRun>, FoundBytes)> {
        let cells = saturating_len(self.cells);
        let mut strings = std::mem::take(&mut scratch.cells);
        let decoded = self.tiles.var(tile, cells, &mut strings, scratch);
        let result = decoded.map(|()| {
            let mut runs = runs_of(copies, &strings.offsets, 0, self.lengths);
            let mut bytes = self.spares.take();
            bytes.clear();
            bytes.reserve(runs.iter().map(|run| run.len as usize).sum());
            for run in &mut runs {
                let start = bytes.len() as u64;
                bytes.extend_from_slice(&strings.values[run.from as usize..][..run.len as usize]);
                run.from = start;
            }
            (runs, FoundBytes::Copied(bytes))
        });
        scratch.cells = strings;
        result
    }

    /// Checks the offsets of the tile's cells from `start` on. They must not decrease and must be
    /// within the tile's `size` bytes.
    fn check(&self, tile: u64, start: u64, size: u64) -> Result<()> {
        let (Some(first), Some(last)) = (self.offsets.first(), self.offsets.last()) else { return Ok(()) };
        let ascending = self.offsets.windows(2).fold(true, |ascending, pair| ascending & (pair[0] <= pair[1]));
        if ascending && *last <= size && (start > 0 || *first == 0) {
            return Ok(());
        }
        Err(ArrayError::Corrupt {
            file: self.tiles.fixed.path.clone(),
            what: format!(
                "tile {tile} of field {:?}: expected offsets that start at 0, ascend and stay within the data",
                self.tiles.name
            ),
        })
    }
}

/// Stores the length of each cell in `lengths`, and returns the locations of the bytes. `offsets`
/// begins with cell `start`.
fn runs_of(copies: &[BoxCopy], offsets: &[u64], start: u64, lengths: &mut [u64]) -> Vec<ByteRun> {
    let mut found: Vec<ByteRun> = Vec::new();
    // The cell after the last run.
    let mut behind = usize::MAX;
    for copy in copies {
        copy.runs(|from, to, cells| {
            let offsets = &offsets[(from - start) as usize..][..cells + 1];
            for (length, pair) in lengths[to..to + cells].iter_mut().zip(offsets.windows(2)) {
                *length = pair[1] - pair[0];
            }
            let (first, len) = (offsets[0], offsets[cells] - offsets[0]);
            match found.last_mut() {
                Some(last) if last.from + last.len == first && behind == to => {
                    last.len += len;
                    behind = to + cells;
                }
                _ if len > 0 => {
                    found.push(ByteRun { from: first, len, to });
                    behind = to + cells;
                }
                _ => {}
            }
        });
    }
    if !found.is_sorted_by_key(|run| run.from) {
        found.sort_unstable_by_key(|run| run.from);
    }
    found
}

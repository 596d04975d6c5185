//! Unfiltered cells of a tile.

use std::ops::Range;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::Result;
use tdb_snapshot::tiles::{ByteRun, ByteRuns, FieldTiles, PartTiles, TileRequest, TileStream};

/// Unfiltered cells of one field of a tile. May hold values, validity, both or neither.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) cells: CellBuffers,
    /// `true` if the memory limit allows the cells for a single batch only. Fixed-size cells are
    /// then incomplete.
    pub(super) passing: bool,
}

impl Held {
    /// Wraps cells that may be kept for later batches.
    pub(super) fn of(cells: CellBuffers) -> Self {
        Self { cells, passing: false }
    }

    /// Returns the memory of the cells in bytes.
    pub(super) fn memory(&self) -> usize {
        self.cells.memory()
    }
}

/// Unfilters the chunks that hold a window of a tile's cells, to the same offsets in `out`. `out`
/// has room for the whole tile. All other bytes of `out` have unspecified contents.
pub(super) fn fixed_window(
    tiles: &FieldTiles,
    file: &PartTiles,
    tile: u64,
    (cells, size): (usize, usize),
    window: Range<usize>,
    out: &mut [u8],
    scratch: &mut TileScratch,
) -> Result<()> {
    fixed_windows(tiles, file, tile, (cells, size), std::slice::from_ref(&window), out, scratch)
}

/// Unfilters several windows like [`fixed_window`]. The windows ascend and do not overlap.
pub(super) fn fixed_windows(
    tiles: &FieldTiles,
    file: &PartTiles,
    tile: u64,
    (cells, size): (usize, usize),
    windows: &[Range<usize>],
    out: &mut [u8],
    scratch: &mut TileScratch,
) -> Result<()> {
    let run = |window: &Range<usize>| {
        let (start, len) = (window.start * size, window.len() * size);
        ByteRun { from: start as u64, len: len as u64, to: start }
    };
    let runs: Vec<ByteRun> = windows.iter().map(run).collect();
    let request = TileRequest { tile, size: (cells * size) as u64, until: file.range(tile)?.end };
    TileStream::new(file, &tiles.name, tiles.tile_limit, scratch).read(request, &mut ByteRuns::new(&runs), out)
}

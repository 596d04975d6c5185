//! Unfiltered cells of a tile.

use std::ops::Range;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_snapshot::tiles::{ByteRun, ByteRuns, FieldTiles, PartTiles, TileRequest, TileStream};
use tdb_snapshot::{ArrayError, Result};

/// What is unfiltered of one field of a tile: its values, its validity, both or neither.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) cells: CellBuffers,
    /// Whether they serve one batch only: there is no room to keep them, and of fixed-size cells only some are there.
    pub(super) passing: bool,
}

impl Held {
    /// Cells that may be kept.
    pub(super) fn of(cells: CellBuffers) -> Self {
        Self { cells, passing: false }
    }

    /// Bytes of memory that the cells take.
    pub(super) fn memory(&self) -> usize {
        self.cells.memory()
    }
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

/// Unfilters the chunks of a tile that hold a window of its cells to where they belong in `out`, which has room for the
/// whole tile; the rest of it holds anything.
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

/// The same for several windows, which are in order and apart.
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

//! Values and validity of fixed-size cells.

use tdb_cells::TileScratch;
use tdb_snapshot::Result;
use tdb_snapshot::tiles::{FieldTiles, PartTiles, TileRequest, TileStream};

use crate::boxes::Boxes;
use crate::copy::BoxCopy;
use crate::fields::Field;
use crate::work::{Origin, Source, Work};

/// Writes the values of a fixed-size field for the cells of `work`.
pub(super) fn values(field: Field<'_>, work: &Work, result: &mut [u8], scratch: &mut TileScratch) -> Result<()> {
    let fill = &field.output.fill[..];
    let size = field.output.cell_size().unwrap_or(fill.len());
    each_file(field, work, |sources, tiles| match tiles {
        Some(tiles) => read(tiles, Some(&tiles.fixed), size, sources, result, scratch),
        None => {
            sources.iter().for_each(|source| fill_cells(&source.copies, fill, result));
            Ok(())
        }
    })
}

/// Writes the validity of the cells of `work`, one byte each, 0 for null.
pub(super) fn validity(field: Field<'_>, work: &Work, result: &mut [u8], scratch: &mut TileScratch) -> Result<()> {
    each_file(field, work, |sources, tiles| match tiles {
        // A fragment from before the field became nullable has valid cells only.
        Some(FieldTiles { validity: None, .. }) => {
            sources.iter().for_each(|source| fill_cells(&source.copies, &[1], result));
            Ok(())
        }
        Some(tiles) => read(tiles, tiles.validity.as_ref(), 1, sources, result, scratch),
        None => {
            let fill = [u8::from(field.output.fill_valid)];
            sources.iter().for_each(|source| fill_cells(&source.copies, &fill, result));
            Ok(())
        }
    })
}

/// Calls `each` for the sources of each fragment, with the fragment's tiles of the field.
pub(super) fn each_file<'a>(
    field: Field<'a>,
    work: &'a Work,
    mut each: impl FnMut(&'a [Source], Option<&'a FieldTiles>) -> Result<()>,
) -> Result<()> {
    for sources in work.sources.chunk_by(|a, b| a.fragment() == b.fragment()) {
        each(sources, field.tiles(&sources[0]))?;
    }
    Ok(())
}

fn read(
    tiles: &FieldTiles,
    part: Option<&PartTiles>,
    cell_size: usize,
    sources: &[Source],
    result: &mut [u8],
    scratch: &mut TileScratch,
) -> Result<()> {
    let Some(part) = part else { return Ok(()) };
    let mut stream = TileStream::new(part, &tiles.name, tiles.tile_limit, scratch);
    let mut reach = Reach::new(part, sources);
    for (index, source) in sources.iter().enumerate() {
        let Origin::Tile { tile, cells, .. } = source.origin else { continue };
        let size = cells.saturating_mul(cell_size as u64);
        let request = TileRequest { tile, size, until: reach.until(index)? };
        stream.read(request, &mut Boxes::new(&source.copies, cell_size), result)?;
    }
    Ok(())
}

/// A scan for requested tiles that are adjacent in a file.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    part: &'a PartTiles,
    sources: &'a [Source],
    /// Index of the first non-adjacent source, and the end of the previous source in the file.
    next: usize,
    end: u64,
}

impl<'a> Reach<'a> {
    pub(super) fn new(part: &'a PartTiles, sources: &'a [Source]) -> Self {
        Self { part, sources, next: 0, end: 0 }
    }

    /// Returns the file position up to which to read ahead from the tile of the source at `index`.
    /// Call in ascending order of `index`.
    pub(super) fn until(&mut self, index: usize) -> Result<u64> {
        let gap = self.part.file.profile().gap;
        while let Some(source) = self.sources.get(self.next) {
            let Origin::Tile { tile, .. } = source.origin else { break };
            let range = self.part.range(tile)?;
            if self.next > index && range.start > self.end.saturating_add(gap) {
                break;
            }
            self.end = range.end;
            self.next += 1;
        }
        Ok(self.end)
    }
}

/// Writes a cell's bytes to all destinations of the copies.
fn fill_cells(copies: &[BoxCopy], cell: &[u8], result: &mut [u8]) {
    let size = cell.len();
    for copy in copies {
        copy.runs(|_, to, len| repeat(cell, &mut result[to * size..(to + len) * size]));
    }
}

/// Fills `cells` with repetitions of a cell.
pub(super) fn repeat(cell: &[u8], cells: &mut [u8]) {
    match *cell {
        [] => {}
        [first, ref rest @ ..] if rest.iter().all(|byte| *byte == first) => cells.fill(first),
        [a, b] => cells.as_chunks_mut().0.fill([a, b]),
        [a, b, c, d] => cells.as_chunks_mut().0.fill([a, b, c, d]),
        [a, b, c, d, e, f, g, h] => cells.as_chunks_mut().0.fill([a, b, c, d, e, f, g, h]),
        _ => cells.chunks_exact_mut(cell.len()).for_each(|to| to.copy_from_slice(cell)),
    }
}

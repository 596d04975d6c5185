//! The tiles of a fragment's field: from filtered bytes in a file to cells in memory.

use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_filters::{ChunkIndex, FilterError};
use tdb_storage::read_behind;

use super::blocks::BlockBounds;
use super::part::{PartTiles, tile_len};
use super::stream::TileStream;
use crate::{ArrayError, Result};

/// The tiles of a fragment's field.
#[derive(Debug)]
pub struct FieldTiles {
    /// The name of the field, for messages.
    pub name: Arc<str>,
    /// Fixed-size cells, or offsets of variable-length cells.
    pub fixed: PartTiles,
    /// The bytes of variable-length cells, and the unfiltered size of each tile of values.
    pub var: Option<(PartTiles, Arc<[u64]>)>,
    /// One byte per cell of a nullable field. 0 means null.
    pub validity: Option<PartTiles>,
    /// This dimension's share of a tile in formats 1 to 4, where a tile stores the coordinates of
    /// all dimensions.
    pub combined: Option<Combined>,
    /// The maximum size of an unfiltered tile in bytes.
    pub tile_limit: u64,
    /// The known coordinate bounds of blocks of cells.
    pub blocks: BlockBounds,
}

/// A single dimension's share of tiles of combined coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Combined {
    pub(crate) dimension: usize,
    pub(crate) dimensions: usize,
    /// The size of one coordinate in bytes.
    pub(crate) size: usize,
}

impl PartTiles {
    /// Reads the filtered tile into `scratch.filtered`, and returns the length. The unfiltered tile
    /// has `size` bytes, and embeds up to `offsets` bytes of offsets.
    fn read(&self, tile: u64, name: &str, (size, offsets): (u64, u64), scratch: &mut TileScratch) -> Result<usize> {
        if let Some(watch) = &scratch.watch {
            watch.check()?;
        }
        let limit = scratch.filters.limits().tile_bytes;
        TileStream::new(self, name, limit, scratch).check_stored(tile, size, offsets)?;
        let range = self.range(tile)?;
        let len = range.end - range.start;
        read_behind(&*self.file, range.start, &mut scratch.filtered, 0, len, || self.path.clone())?;
        if let Some(watch) = &scratch.watch {
            watch.read(&self.name, tile, &range);
        }
        // The number of bytes in memory fits into `usize`.
        Ok(len as usize)
    }

    fn unfilter(&self, tile: u64, name: &str, out: &mut [u8], scratch: &mut TileScratch) -> Result<()> {
        let len = self.read(tile, name, (out.len() as u64, 0), scratch)?;
        let result = self.pipeline.decode_tile(&scratch.filtered[..len], out, &mut scratch.filters);
        result.map_err(|source| self.error(tile, name, source))
    }
}

impl FieldTiles {
    /// Returns the unfiltered size, in bytes, of the values in a tile of variable-length cells.
    /// Returns 0 if the metadata states no size.
    pub fn var_size(&self, tile: u64) -> u64 {
        let sizes = self.var.as_ref().map_or(&[][..], |(_, sizes)| sizes);
        usize::try_from(tile).ok().and_then(|tile| sizes.get(tile)).copied().unwrap_or(0)
    }

    /// Returns `true` if the values of a tile may embed cell offsets. An offsets tile without
    /// chunks indicates embedded offsets.
    pub fn can_carry_offsets(&self) -> bool {
        self.var.as_ref().is_some_and(|(data, _)| data.pipeline.can_carry_offsets())
    }

    /// Reads a filtered tile of a data file into `scratch.filtered`, and returns the length. The
    /// unfiltered tile has `size` bytes, and may embed up to `offsets` bytes of offsets.
    ///
    /// # Errors
    /// The tile cannot be read, has an implausible stored size, or the query was cancelled.
    pub fn stored(
        &self,
        part: &PartTiles,
        tile: u64,
        (size, offsets): (u64, u64),
        scratch: &mut TileScratch,
    ) -> Result<usize> {
        part.read(tile, &self.name, (size, offsets), scratch)
    }

    /// Unfilters a whole tile of fixed-size cells into `out`. `out` must have the size of the
    /// unfiltered tile.
    ///
    /// # Errors
    /// The tile cannot be read or unfiltered, or exceeds the limit.
    pub fn fixed(&self, tile: u64, out: &mut [u8], scratch: &mut TileScratch) -> Result<()> {
        match self.combined {
            None => self.fixed.unfilter(tile, &self.name, out, scratch),
            Some(combined) => {
                let asked = out.len().saturating_mul(combined.dimensions);
                if asked as u64 > self.tile_limit {
                    let what = "the tile of coordinates";
                    let source = FilterError::LimitExceeded { what, asked: asked as u64, max: self.tile_limit };
                    return Err(self.fixed.error(tile, &self.name, source));
                }
                let mut all = std::mem::take(&mut scratch.tile);
                all.resize(asked);
                let result = self.fixed.unfilter(tile, &self.name, &mut all, scratch);
                combined.extract(&all, out);
                scratch.tile = all;
                result
            }
        }
    }

    /// Unfilters all cells of a tile, with validity. `size` is the size of a cell in bytes, or
    /// `None` for variable length.
    ///
    /// # Errors
    /// The tile cannot be read or unfiltered, or exceeds the limit.
    pub fn cells(
        &self,
        tile: u64,
        cells: usize,
        size: Option<usize>,
        scratch: &mut TileScratch,
    ) -> Result<CellBuffers> {
        let mut buffers = CellBuffers::default();
        match size {
            None => self.var(tile, cells, &mut buffers, scratch)?,
            Some(size) => {
                buffers.values.resize(self.fixed_len(cells, size)?);
                self.fixed(tile, &mut buffers.values, scratch)?;
            }
        }
        if self.validity.is_some() {
            buffers.validity.resize(cells);
            self.validity(tile, &mut buffers.validity, scratch)?;
        }
        Ok(buffers)
    }

    /// Returns the size in bytes of an unfiltered tile of fixed-size cells.
    ///
    /// # Errors
    /// The tile exceeds the limit.
    pub fn fixed_len(&self, cells: usize, cell_size: usize) -> Result<usize> {
        let len = cells.checked_mul(cell_size).filter(|len| *len as u64 <= self.tile_limit);
        len.ok_or_else(|| ArrayError::Unsupported {
            file: self.fixed.path.clone(),
            what: format!(
                "tiles of {cells} cells of {cell_size} bytes exceed the limit of {} bytes; raise the limit to read them",
                self.tile_limit
            ),
        })
    }

    /// Unfilters the validity of a tile into `out`, one byte per cell. 0 means null. Fills `out`
    /// with 1 if the field is not nullable.
    ///
    /// # Errors
    /// The tile cannot be read or unfiltered.
    pub fn validity(&self, tile: u64, out: &mut [u8], scratch: &mut TileScratch) -> Result<()> {
        match &self.validity {
            Some(part) => part.unfilter(tile, &self.name, out, scratch),
            None => {
                out.fill(1);
                Ok(())
            }
        }
    }

    /// Returns the unfiltered size, in bytes, of the values in a tile of variable-length cells.
    ///
    /// # Errors
    /// The size exceeds the limit.
    pub fn checked_var_size(&self, tile: u64) -> Result<u64> {
        let size = self.var_size(tile);
        match &self.var {
            Some((data, _)) if size > self.tile_limit => {
                let source = FilterError::LimitExceeded { what: "the tile", asked: size, max: self.tile_limit };
                Err(data.error(tile, &self.name, source))
            }
            _ => Ok(size),
        }
    }

    /// Unfilters a tile of `cells` variable-length cells.
    ///
    /// # Errors
    /// The field has fixed-size cells, the tile cannot be read or unfiltered, the offsets are
    /// invalid, or the tile exceeds the limit.
    pub fn var(&self, tile: u64, cells: usize, out: &mut CellBuffers, scratch: &mut TileScratch) -> Result<()> {
        let Some((data, _)) = &self.var else {
            return Err(ArrayError::Corrupt {
                file: self.fixed.path.clone(),
                what: "missing variable-length data".into(),
            });
        };
        let size = self.checked_var_size(tile)?;
        let len = tile_len("the tile", size, self.tile_limit).map_err(|source| data.error(tile, &self.name, source))?;
        let offsets = (cells as u64).saturating_mul(8);
        tile_len("the offsets of the tile", offsets, self.tile_limit)
            .map_err(|source| self.fixed.error(tile, &self.name, source))?;
        out.offsets.clear();
        // Run-length and dictionary encoded strings embed the offsets, and the offsets tile has no
        // chunks. Some releases also wrote embedded offsets into arrays of older format versions.
        let offsets_len = self.fixed.read(tile, &self.name, (offsets, 0), scratch)?;
        out.values.resize(len);
        let offsets_tile = &scratch.filtered[..offsets_len];
        let embedded = cells > 0 && data.pipeline.can_carry_offsets() && is_without_chunks(offsets_tile);
        if embedded {
            let stored = data.read(tile, &self.name, (size, offsets), scratch)?;
            let filtered = &scratch.filtered[..stored];
            data.pipeline
                .decode_strings(filtered, &mut out.values, &mut out.offsets, cells as u64, &mut scratch.filters)
                .map_err(|source| data.error(tile, &self.name, source))?;
        } else {
            out.offsets.resize(cells, 0);
            let bytes = bytemuck::cast_slice_mut(&mut out.offsets);
            self.fixed
                .pipeline
                .decode_tile(offsets_tile, bytes, &mut scratch.filters)
                .map_err(|source| self.fixed.error(tile, &self.name, source))?;
            data.unfilter(tile, &self.name, &mut out.values, scratch)?;
        }
        out.offsets.push(size);
        check_offsets(&out.offsets).map_err(|what| ArrayError::Corrupt {
            file: self.fixed.path.clone(),
            what: format!("tile {tile} of field {:?}: {what}", self.name),
        })
    }
}

impl Combined {
    /// Copies this dimension's coordinates out of a tile with interleaved dimensions.
    fn extract(&self, all: &[u8], out: &mut [u8]) {
        let Self { dimension, dimensions, size } = *self;
        let cells = all.chunks_exact(size * dimensions).map(|cell| &cell[size * dimension..][..size]);
        for (to, from) in out.chunks_exact_mut(size).zip(cells) {
            to.copy_from_slice(from);
        }
    }
}

/// Returns `true` if a filtered tile consists only of a chunk count of 0.
fn is_without_chunks(filtered: &[u8]) -> bool {
    ChunkIndex::parse(filtered).is_ok_and(|index| index.chunks().is_empty())
}

/// Checks that offsets begin at 0, never decrease, and end at the size of the data.
fn check_offsets(offsets: &[u64]) -> Result<(), &'static str> {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    // In a tile without cells, the only offset is the size of the data.
    if offsets.len() > 1 && *first != 0 {
        return Err("the first offset is not 0");
    }
    let ascending = offsets.windows(2).fold(true, |ascending, pair| ascending & (pair[0] <= pair[1]));
    if ascending && *last >= *first { Ok(()) } else { Err("the offsets descend or exceed the data") }
}

//! Encoding of tiles.

use super::BoundPipeline;
use crate::chunking::Cuts;
use crate::driver::{self, Unfiltered};
use crate::stage::ahead::Ahead;
use crate::stage::string_codec::StringCodec;
use crate::stage::strings::Cells;
use crate::{FilterError, Scratch};

impl BoundPipeline {
    /// Appends the filtered bytes of `tile` to `out`.
    ///
    /// `offsets` are the start offsets of cells of variable size, without the final end. With
    /// offsets, chunks end at cell boundaries, as in current releases of the reference library.
    /// Without offsets, chunks ignore cell boundaries, as before
    /// [`CellAlignedVarChunks`](tdb_types::Feature::CellAlignedVarChunks). Tiles that carry offsets
    /// require `offsets`.
    ///
    /// # Errors
    /// Fails if a filter is unavailable, if offsets or initialization vectors are required but
    /// missing, if the offsets are invalid, or if the tile could not be read back. `out` is then
    /// unchanged.
    pub fn encode_tile(
        &self,
        tile: &[u8],
        offsets: Option<&[u64]>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        let start = out.len();
        match self.encode_tile_lossy(tile, offsets, out, scratch)? {
            None => Ok(()),
            Some(lost) => {
                out.truncate(start);
                Err(lost)
            }
        }
    }

    /// Encodes like [`encode_tile`](Self::encode_tile), but stores values outside the range of a
    /// filter as the reference library does.
    ///
    /// Intended for cells that are never read, such as null cells. Returns the first value outside
    /// the range as [`FilterError::OutOfRange`], in its [`FilterError::Chunk`]. Returns `None` if
    /// all values are in range.
    ///
    /// # Errors
    /// The errors of [`encode_tile`](Self::encode_tile), except for values outside the range.
    pub fn encode_tile_lossy(
        &self,
        tile: &[u8],
        offsets: Option<&[u64]>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<FilterError>, FilterError> {
        let start = out.len();
        scratch.between.contexts.lost = None;
        let result = self.encode_checked(tile, offsets, out, scratch);
        if result.is_err() {
            out.truncate(start);
        }
        result.map(|()| scratch.between.contexts.lost.take())
    }

    fn encode_checked(
        &self,
        tile: &[u8],
        offsets: Option<&[u64]>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        self.check_len(tile.len())?;
        let cells = offsets.map(|offsets| Cells::new(tile, offsets)).transpose()?;
        if let Some(codec) = self.strings.filter(|_| self.carries_offsets) {
            return self.encode_strings(codec, cells, out, scratch);
        }
        let Some((value_size, dimensions)) = self.transposed else {
            return self.encode_chunks(tile, &self.chunking.cut(tile.len(), cells), out, scratch);
        };
        let mut split = std::mem::take(&mut scratch.split);
        split.resize(tile.len(), 0);
        separate(tile, &mut split, value_size, dimensions);
        let result = self.encode_chunks(&split, &self.chunking.cut(tile.len(), None), out, scratch);
        scratch.split = split;
        result
    }

    fn encode_chunks(
        &self,
        tile: &[u8],
        cuts: &Cuts,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        out.extend_from_slice(&(cuts.len() as u64).to_le_bytes());
        let mut ahead = Ahead::default();
        for (chunk, range) in cuts.ranges().enumerate() {
            scratch.between.contexts.digest = match self.stages.first() {
                Some(first) => ahead.digest(first, chunk, || cuts.ranges().skip(chunk).map(|range| &tile[range])),
                None => None,
            };
            let in_chunk = |source| FilterError::Chunk { chunk: chunk as u64, source: Box::new(source) };
            let before = scratch.between.contexts.lost.take();
            driver::encode(&self.stages, Unfiltered::Bytes(&tile[range]), out, &mut scratch.between)
                .map_err(in_chunk)?;
            let lost = &mut scratch.between.contexts.lost;
            *lost = before.or_else(|| lost.take().map(in_chunk));
        }
        Ok(())
    }

    /// Encodes strings as a single chunk, or no chunk for zero strings, which the filters cannot
    /// represent.
    fn encode_strings(
        &self,
        codec: StringCodec,
        cells: Option<Cells<'_>>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        let cells = cells.ok_or(FilterError::OffsetsRequired { filter: codec.filter() })?;
        let chunks = u64::from(cells.len() > 0);
        out.extend_from_slice(&chunks.to_le_bytes());
        if chunks == 0 {
            return Ok(());
        }
        let stages = self.stages.get(1..).unwrap_or_default();
        driver::encode(stages, Unfiltered::Strings(codec, cells), out, &mut scratch.between)
    }
}

/// Splits coordinate tuples dimension by dimension.
fn separate(tuples: &[u8], split: &mut [u8], value_size: usize, dimensions: usize) {
    let tuple_size = value_size * dimensions;
    if tuple_size == 0 || split.len() < tuple_size {
        return;
    }
    let dimension_len = split.len() / dimensions;
    for (dimension, values) in split.chunks_exact_mut(dimension_len).enumerate() {
        let tuples = tuples.chunks_exact(tuple_size);
        for (value, tuple) in values.chunks_exact_mut(value_size).zip(tuples) {
            value.copy_from_slice(&tuple[dimension * value_size..][..value_size]);
        }
    }
}

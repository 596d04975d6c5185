//! Decoding of filtered tiles.

use std::ops::Range;

use tdb_types::{ByteReader, saturating_len};

use super::BoundPipeline;
use crate::chunk::{Chunk, ChunkHeader, Walk};
use crate::driver::{Decoding, Filtered};
use crate::scratch::Between;
use crate::stage::ahead::ChunksAhead;
use crate::stage::strings::Strings;
use crate::{FilterError, Scratch};

/// Maximum growth of data between two filters, relative to the chunk. Only contrived pipelines
/// exceed this factor.
const MAX_GROWTH: u64 = 64;
/// Minimum allowance for data between two filters, in bytes, for small chunks.
const MIN_BUDGET: u64 = 64 << 10;

impl BoundPipeline {
    /// Decodes a filtered tile into `tile` and overwrites every byte.
    ///
    /// For tiles that carry offsets, use [`decode_strings`](Self::decode_strings).
    ///
    /// # Errors
    /// Fails if the bytes are damaged or hostile, if the unfiltered size differs from that of
    /// `tile`, or if a size exceeds the limits of `scratch`. Also fails if a filter is unavailable,
    /// or if the key is missing or wrong.
    pub fn decode_tile(&self, filtered: &[u8], tile: &mut [u8], scratch: &mut Scratch) -> Result<(), FilterError> {
        check_limit("the tile", tile.len() as u64, scratch)?;
        let Some((value_size, dimensions)) = self.transposed else {
            return self.decode_chunks(filtered, tile, scratch);
        };
        self.check_len(tile.len())?;
        let mut split = std::mem::take(&mut scratch.split);
        split.resize(tile.len(), 0);
        let result = self.decode_chunks(filtered, &mut split, scratch);
        if result.is_ok() {
            interleave(&split, tile, value_size, dimensions);
        }
        scratch.split = split;
        result
    }

    fn decode_chunks(&self, filtered: &[u8], tile: &mut [u8], scratch: &mut Scratch) -> Result<(), FilterError> {
        let expected = tile.len() as u64;
        let wrong_size = |found| FilterError::WrongSize { what: "unfiltered tile", expected, found };
        let mut rest = tile;
        let mut walk = Walk::new(filtered)?;
        let mut chunk = 0;
        let mut ahead = ChunksAhead::default();
        while let Some((offset, header, metadata, data)) = walk.next()? {
            let len = u64::from(header.original);
            let out = usize::try_from(len).ok().and_then(|len| rest.split_off_mut(..len));
            let Some(out) = out else {
                return Err(wrong_size((expected - rest.len() as u64).saturating_add(len)));
            };
            let known = self.digest_ahead(&filtered[saturating_len(offset)..], offset, &mut ahead);
            self.decode_one(Filtered { metadata, data }, known, out, scratch).map_err(in_chunk(chunk))?;
            chunk += 1;
        }
        if rest.is_empty() { Ok(()) } else { Err(wrong_size(expected - rest.len() as u64)) }
    }

    /// Decodes one chunk of a filtered tile into `out`, which has the chunk's unfiltered length.
    ///
    /// For coordinates stored dimension by dimension, `out` receives consecutive coordinates of one
    /// dimension.
    ///
    /// # Errors
    /// The errors of [`decode_tile`](Self::decode_tile).
    pub fn decode_chunk(
        &self,
        filtered: &[u8],
        chunk: &Chunk,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        let len = chunk.unfiltered.end.saturating_sub(chunk.unfiltered.start);
        if len != out.len() as u64 {
            return Err(FilterError::WrongSize { what: "room for the chunk", expected: len, found: out.len() as u64 });
        }
        check_limit("the chunk", len, scratch)?;
        self.decode_one(chunk.of(filtered)?, None, out, scratch)
    }

    /// Decodes the chunk at the start of `filtered`, for readers that decode a tile chunk by chunk.
    ///
    /// `filtered` starts with the chunk's header and may continue with further chunks. `at` is the
    /// offset of the header in the tile or file. The caller must create a new `ahead` for each
    /// tile.
    ///
    /// # Errors
    /// The errors of [`decode_tile`](Self::decode_tile).
    pub fn decode_next(
        &self,
        filtered: &[u8],
        at: u64,
        out: &mut [u8],
        scratch: &mut Scratch,
        ahead: &mut ChunksAhead,
    ) -> Result<(), FilterError> {
        let chunk = Chunk::locate(ChunkHeader::read(&mut ByteReader::new(filtered))?, 0, 0);
        let len = chunk.unfiltered.end;
        if len != out.len() as u64 {
            return Err(FilterError::WrongSize { what: "room for the chunk", expected: len, found: out.len() as u64 });
        }
        check_limit("the chunk", len, scratch)?;
        let known = self.digest_ahead(filtered, at, ahead);
        self.decode_one(chunk.of(filtered)?, known, out, scratch)
    }

    fn digest_ahead(&self, filtered: &[u8], at: u64, ahead: &mut ChunksAhead) -> Option<[u8; 16]> {
        if self.verify { ahead.digest(self.stages.last(), filtered, at) } else { None }
    }

    fn decode_one(
        &self,
        chunk: Filtered<'_>,
        known: Option<[u8; 16]>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        let budget = budget(out.len() as u64, 0, scratch);
        Decoding { stages: &self.stages, verify: self.verify, budget, known }.bytes(chunk, out, &mut scratch.between)
    }

    /// Decodes a filtered tile of `cells` strings that carries their offsets.
    ///
    /// Writes the bytes of the strings to `values`, and replaces the content of `offsets` by the
    /// start of each string.
    ///
    /// # Errors
    /// The errors of [`decode_tile`](Self::decode_tile). Also fails if the tile has another number
    /// of strings, or if the pipeline [cannot carry offsets](Self::can_carry_offsets).
    pub fn decode_strings(
        &self,
        filtered: &[u8],
        values: &mut [u8],
        offsets: &mut Vec<u64>,
        cells: u64,
        scratch: &mut Scratch,
    ) -> Result<(), FilterError> {
        let Some(codec) = self.strings else {
            let (datatype, hint) = (self.kind.datatype, "decode the tile and its offsets tile separately");
            return Err(FilterError::UnsupportedDatatype { filter: "the string codec", datatype, hint });
        };
        check_limit("the tile", values.len() as u64, scratch)?;
        check_limit("the offsets of the tile", cells.saturating_mul(8), scratch)?;
        offsets.clear();
        let budget = budget(values.len() as u64, cells, scratch);
        let stages = self.stages.get(1..).unwrap_or_default();
        let decoding = Decoding { stages, verify: self.verify, budget, known: None };
        let mut walk = Walk::new(filtered)?;
        let (mut rest, mut base, mut cells_left, mut chunk) = (values, 0, cells, 0);
        while let Some((_, header, metadata, data)) = walk.next()? {
            let len = u64::from(header.original);
            let found = base + len;
            let expected = base + rest.len() as u64;
            let out = usize::try_from(len).ok().and_then(|len| rest.split_off_mut(..len));
            let out = out.ok_or(FilterError::WrongSize { what: "unfiltered tile", expected, found })?;
            let mut strings = Strings::new(out, base, offsets, cells_left);
            let between: &mut Between = &mut scratch.between;
            decoding
                .strings(codec, Filtered { metadata, data }, &mut strings, between)
                .and_then(|()| strings.finish(codec.filter()))
                .map(|left| cells_left = left)
                .map_err(in_chunk(chunk))?;
            base += len;
            chunk += 1;
        }
        if !rest.is_empty() {
            let expected = base + rest.len() as u64;
            return Err(FilterError::WrongSize { what: "unfiltered tile", expected, found: base });
        }
        match cells_left {
            0 => Ok(()),
            left => Err(FilterError::WrongCellCount { filter: codec.filter(), expected: cells, found: cells - left }),
        }
    }
}

/// Returns the maximum number of bytes between two filters, for a chunk of `len` bytes and `cells`
/// strings.
fn budget(len: u64, cells: u64, scratch: &Scratch) -> u64 {
    let grown = len.saturating_add(cells.saturating_mul(8)).saturating_mul(MAX_GROWTH);
    grown.max(MIN_BUDGET).min(scratch.limits().tile_bytes)
}

fn check_limit(what: &'static str, asked: u64, scratch: &Scratch) -> Result<(), FilterError> {
    let max = scratch.limits().tile_bytes;
    if asked > max { Err(FilterError::LimitExceeded { what, asked, max }) } else { Ok(()) }
}

fn in_chunk(chunk: u64) -> impl FnOnce(FilterError) -> FilterError {
    move |source| FilterError::Chunk { chunk, source: Box::new(source) }
}

impl Chunk {
    /// Slices the chunk from the filtered tile.
    fn of<'a>(&self, filtered: &'a [u8]) -> Result<Filtered<'a>, FilterError> {
        let metadata = ByteReader::at(slice(filtered, &self.metadata)?, self.metadata.start);
        Ok(Filtered { metadata, data: slice(filtered, &self.data)? })
    }
}

fn slice<'a>(filtered: &'a [u8], range: &Range<u64>) -> Result<&'a [u8], FilterError> {
    let mut reader = ByteReader::new(filtered);
    reader.bytes("before the chunk", range.start)?;
    Ok(reader.bytes("chunk", range.end.saturating_sub(range.start))?)
}

/// Combines coordinates stored dimension by dimension into tuples.
fn interleave(split: &[u8], tuples: &mut [u8], value_size: usize, dimensions: usize) {
    let tuple_size = value_size * dimensions;
    if tuple_size == 0 || split.len() < tuple_size {
        return;
    }
    for (dimension, values) in split.chunks_exact(split.len() / dimensions).enumerate() {
        let places = tuples.chunks_exact_mut(tuple_size);
        for (tuple, value) in places.zip(values.chunks_exact(value_size)) {
            tuple[dimension * value_size..][..value_size].copy_from_slice(value);
        }
    }
}

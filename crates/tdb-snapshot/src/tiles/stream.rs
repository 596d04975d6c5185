//! Partial reads of tiles, chunk by chunk.

mod headers;
mod request;
mod trouble;
mod wanted;
mod window;

use std::ops::Range;

use tdb_cells::{TileScratch, Watch};
use tdb_filters::{ChunkHeader, FilterError};
use tdb_types::Buffer;

use super::part::{PartTiles, tile_len};
use crate::Result;
use headers::{Headers, Walk, check_count};
use trouble::{Trouble, wrong_size};

pub use request::TileRequest;
pub use wanted::{ByteRun, ByteRuns, Share, Wanted};

/// A reader for tiles of a data file.
///
/// Only the required chunks of a tile are unfiltered, unless a value straddles two chunks. Other
/// chunks are not even read, if skipping pays off on the file's storage. A chunk (64 KiB in most
/// files) stays in the CPU caches from file to result. A chunk for a single run of the result is
/// unfiltered directly into the result. If no filter changed the chunk, the chunk is read directly
/// into the result.
#[derive(Debug)]
pub struct TileStream<'a> {
    headers: Headers<'a>,
    chunk: &'a mut Buffer,
    filters: &'a mut tdb_filters::Scratch,
    watch: Option<&'a Watch>,
}

impl<'a> TileStream<'a> {
    /// Creates a reader for tiles of a file. `name` is the field, for messages. `limit` is the
    /// maximum size of an unfiltered tile in bytes.
    pub fn new(part: &'a PartTiles, name: &'a str, limit: u64, scratch: &'a mut TileScratch) -> Self {
        let TileScratch { filters, filtered, tile, watch, .. } = scratch;
        let headers = Headers::new(part, name, limit, filtered);
        Self { headers, chunk: tile, filters, watch: watch.as_deref() }
    }

    /// Checks the unfiltered size of a tile.
    ///
    /// # Errors
    /// The size exceeds the limit.
    pub fn check_size(&self, request: TileRequest) -> Result<()> {
        self.headers.check_size(request)
    }

    /// Returns an error if the tile's stored size is implausible. See [`Headers::check_stored`].
    pub(crate) fn check_stored(&mut self, tile: u64, size: u64, offsets: u64) -> Result<()> {
        self.headers.check_stored(tile, size, offsets)
    }

    /// Returns the number of chunks of the tile.
    ///
    /// # Errors
    /// The tile does not exist, or cannot be read.
    pub fn chunk_count(&mut self, tile: u64) -> Result<u64> {
        self.headers.chunk_count(tile)
    }

    /// Reads the `wanted` bytes of a tile into `result`.
    ///
    /// # Errors
    /// The tile cannot be read or unfiltered, exceeds the limit, or the query was cancelled.
    pub fn read(&mut self, request: TileRequest, wanted: &mut impl Wanted, result: &mut [u8]) -> Result<()> {
        let bounds = wanted.bounds();
        if bounds.is_empty() {
            return Ok(());
        }
        self.headers.check_size(request)?;
        let range = self.headers.part.range(request.tile)?;
        match self.walk(request, range.clone(), &bounds, wanted, result) {
            Ok(true) => {}
            Ok(false) => self.read_whole(request, wanted, result)?,
            Err(trouble) => return Err(self.headers.error(request.tile, trouble)),
        }
        if let Some(watch) = self.watch {
            watch.read(&self.headers.part.name, request.tile, &range);
        }
        Ok(())
    }

    /// Walks the chunks of a tile. Returns `false` if a value straddles two chunks.
    fn walk(
        &mut self,
        request: TileRequest,
        range: Range<u64>,
        bounds: &Range<u64>,
        wanted: &mut impl Wanted,
        result: &mut [u8],
    ) -> Result<bool, Trouble> {
        let pace = Pace::new(&request, &range, bounds, wanted.amount(), wanted.stride() > 0, self.headers.part);
        let first = range.start.saturating_add((ChunkHeader::COUNT_LEN + ChunkHeader::LEN) as u64);
        let count = self.headers.count(&range, pace.until(range.start, first.min(range.end), 0))?;
        check_count(count, request.size)?;
        let pace = pace.with_count(count);
        let mut walk = Walk::new(&range);
        let stride = wanted.stride();
        for _ in 0..count {
            // If the end of the tile is wanted, all chunks are visited. Number and total size must
            // match the tile.
            if walk.start >= bounds.end && bounds.end < request.size {
                break;
            }
            if let Some(watch) = self.watch {
                watch.check()?;
            }
            let until = pace.until(range.start, walk.at, walk.start);
            let header = self.headers.header(&mut walk, until)?;
            let chunk = walk.start..walk.start + u64::from(header.original);
            if chunk.end > request.size {
                return Err(wrong_size("the unfiltered tile", request.size, chunk.end));
            }
            header.check_payload(0, self.headers.limit)?;
            match wanted.enter(chunk.clone()) {
                Share::Straddling => return Ok(false),
                Share::Part(_) if stride > 0 => {
                    self.append(&mut walk, header, until)?;
                    walk.waiting += header.original as usize;
                }
                share => {
                    self.take_waiting(&mut walk, wanted, result);
                    match share {
                        Share::Nothing | Share::Straddling => {}
                        Share::Whole(to) => self.whole(&mut walk, header, result, to, until)?,
                        Share::Part(part) => self.part_of(&mut walk, header, part, until, wanted, result)?,
                    }
                }
            }
            walk.at += ChunkHeader::LEN as u64 + header.payload();
            walk.start = chunk.end;
            if walk.waiting >= stride {
                self.take_waiting(&mut walk, wanted, result);
            }
        }
        self.take_waiting(&mut walk, wanted, result);
        if walk.start < bounds.end {
            return Err(wrong_size("the unfiltered tile", request.size, walk.start));
        }
        if bounds.end == request.size && walk.at != walk.end {
            return Err(wrong_size("the filtered tile", walk.end - range.start, walk.at - range.start));
        }
        Ok(true)
    }

    /// Unfilters or reads a whole chunk into the result.
    fn whole(
        &mut self,
        walk: &mut Walk,
        header: ChunkHeader,
        result: &mut [u8],
        to: usize,
        until: u64,
    ) -> Result<(), Trouble> {
        if !self.is_verbatim(header) {
            let len = header.original as usize;
            return self.decode(walk, header, until, Some(&mut result[to..][..len]));
        }
        let data = walk.at + ChunkHeader::LEN as u64;
        let len = header.original as usize;
        let data_end = data + header.payload();
        if self.headers.window.holds(&(data..data_end)) {
            result[to..][..len].copy_from_slice(self.headers.window.bytes(data..data_end, until)?);
            return Ok(());
        }
        // A single read includes the next header, which overwrites bytes of the result. These bytes
        // are restored afterwards.
        const NEXT: usize = ChunkHeader::LEN;
        let room = result[to..].get(len..len + NEXT).and_then(|bytes| bytes.first_chunk::<NEXT>().copied());
        match room.filter(|_| walk.end - data_end >= NEXT as u64) {
            Some(covered) => {
                self.headers.window.file.read_into(data, &mut result[to..][..len + NEXT])?;
                let next = &mut result[to + len..][..NEXT];
                walk.header = next.first_chunk().map(ChunkHeader::parse);
                next.copy_from_slice(&covered);
            }
            None => self.headers.window.file.read_into(data, &mut result[to..][..len])?,
        }
        Ok(())
    }

    /// Copies the wanted bytes of a chunk into the result.
    fn part_of(
        &mut self,
        walk: &mut Walk,
        header: ChunkHeader,
        part: Range<u64>,
        until: u64,
        wanted: &mut impl Wanted,
        result: &mut [u8],
    ) -> Result<(), Trouble> {
        if self.is_verbatim(header) {
            let data = walk.at + ChunkHeader::LEN as u64;
            let range = data + (part.start - walk.start)..data + (part.end - walk.start);
            wanted.take(part, self.headers.window.bytes(range, until)?, result);
            return Ok(());
        }
        self.decode(walk, header, until, None)?;
        wanted.take(walk.start..walk.start + u64::from(header.original), self.chunk, result);
        Ok(())
    }

    /// Unfilters a chunk into the chunk buffer, after the pending chunks.
    fn append(&mut self, walk: &mut Walk, header: ChunkHeader, until: u64) -> Result<(), Trouble> {
        let (start, len) = (walk.waiting, header.original as usize);
        let end = start + len;
        // Leaves room to read the next header in the same call.
        self.chunk.resize(end + ChunkHeader::LEN);
        let data = walk.at + ChunkHeader::LEN as u64;
        let next = (data + header.payload()).saturating_add(ChunkHeader::LEN as u64);
        if !self.is_verbatim(header) {
            let filtered = self.headers.window.bytes_from(walk.at..data + header.payload(), until)?;
            let to = &mut self.chunk[start..end];
            self.headers.part.pipeline.decode_next(filtered, walk.at, to, self.filters, &mut walk.ahead)?;
        } else if self.headers.window.holds(&(data..data + header.payload())) {
            let bytes = self.headers.window.bytes(data..data + header.payload(), until)?;
            self.chunk[start..end].copy_from_slice(bytes);
        } else if next <= walk.end {
            self.headers.window.file.read_into(data, &mut self.chunk[start..])?;
            walk.header = self.chunk[end..].first_chunk().map(ChunkHeader::parse);
        } else {
            self.headers.window.file.read_into(data, &mut self.chunk[start..end])?;
        }
        Ok(())
    }

    /// Copies the wanted bytes of the pending chunks into the result.
    fn take_waiting(&mut self, walk: &mut Walk, wanted: &mut impl Wanted, result: &mut [u8]) {
        let waiting = std::mem::take(&mut walk.waiting);
        if waiting > 0 {
            let start = walk.start - waiting as u64;
            wanted.take(start..walk.start, &self.chunk[..waiting], result);
        }
    }

    /// Unfilters a chunk into `to`, or into the chunk buffer.
    fn decode(
        &mut self,
        walk: &mut Walk,
        header: ChunkHeader,
        until: u64,
        to: Option<&mut [u8]>,
    ) -> Result<(), Trouble> {
        let end = walk.at + ChunkHeader::LEN as u64 + header.payload();
        let filtered = self.headers.window.bytes_from(walk.at..end, until)?;
        let to = match to {
            Some(to) => to,
            None => {
                self.chunk.resize(header.original as usize);
                &mut *self.chunk
            }
        };
        Ok(self.headers.part.pipeline.decode_next(filtered, walk.at, to, self.filters, &mut walk.ahead)?)
    }

    /// Reads and unfilters the whole tile, then copies the wanted bytes.
    fn read_whole(&mut self, request: TileRequest, wanted: &mut impl Wanted, result: &mut [u8]) -> Result<()> {
        let TileRequest { tile, size, .. } = request;
        let len = tile_len("the tile", size, self.headers.limit)
            .map_err(|source| self.headers.part.error(tile, self.headers.name, source))?;
        self.headers.check_stored(tile, size, 0)?;
        let range = self.headers.part.range(tile)?;
        self.chunk.resize(len);
        let filtered = self.headers.window.bytes(range.clone(), range.end)?;
        let decoded = self.headers.part.pipeline.decode_tile(filtered, self.chunk, self.filters);
        decoded.map_err(|source| self.headers.part.error(tile, self.headers.name, source))?;
        wanted.restart();
        match wanted.enter(0..size) {
            Share::Nothing => {}
            Share::Straddling => {
                let source = FilterError::WrongSize { what: "the last cell of the tile", expected: 0, found: size };
                return Err(self.headers.part.error(tile, self.headers.name, source));
            }
            Share::Whole(_) | Share::Part(_) => wanted.take(0..size, self.chunk, result),
        }
        Ok(())
    }

    fn is_verbatim(&self, header: ChunkHeader) -> bool {
        self.headers.part.pipeline.is_verbatim() && header.metadata == 0 && header.filtered == header.original
    }
}

/// The strategy for reading ahead.
struct Pace {
    /// The bytes of the tile from the first to the last wanted byte.
    bounds: Range<u64>,
    /// `true` if most bytes of `bounds` are wanted.
    most: bool,
    /// `true` if chunks are read directly to the destination, and only headers use the window.
    straight: bool,
    /// `true` if reading across a chunk costs no more than skipping.
    small_chunks: bool,
    gap: u64,
    filtered: u64,
    size: u64,
    /// The end of the read if everything up to the tile's end is wanted.
    until: u64,
}

impl Pace {
    fn new(
        request: &TileRequest,
        range: &Range<u64>,
        bounds: &Range<u64>,
        amount: u64,
        gathers: bool,
        part: &PartTiles,
    ) -> Self {
        let most = amount >= (bounds.end - bounds.start) / 2;
        let all = amount >= bounds.end - bounds.start;
        let straight = part.pipeline.is_verbatim() && (all || gathers);
        let filtered = range.end - range.start;
        let gap = part.file.profile().gap;
        let until = range.end.max(request.until);
        let (bounds, size) = (bounds.clone(), request.size.max(1));
        Self { bounds, most, straight, small_chunks: filtered <= gap, gap, filtered, size, until }
    }

    fn with_count(mut self, count: u64) -> Self {
        self.small_chunks |= self.filtered / count.max(1) <= self.gap;
        self
    }

    /// Returns the end of the next read, given the file position `at` of the tile's byte `start`.
    fn until(&self, begin: u64, at: u64, start: u64) -> u64 {
        let end = begin + self.filtered;
        // Only an estimate of the end of the wanted bytes, because chunks differ in compression
        // ratio.
        let share = u128::from(self.filtered) * u128::from(self.bounds.end) / u128::from(self.size);
        let wanted = begin.saturating_add(u64::try_from(share).unwrap_or(u64::MAX)).saturating_add(self.gap);
        let through = if self.bounds.end >= self.size { self.until } else { wanted.min(end) };
        match () {
            () if self.small_chunks => through.max(at.saturating_add(self.gap).min(end)),
            () if self.straight => at,
            () if self.most && start + (64 << 10) > self.bounds.start => through,
            () => at,
        }
    }
}

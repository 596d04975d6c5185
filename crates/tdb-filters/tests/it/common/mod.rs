//! Helpers shared by the tests.
#![allow(dead_code, unreachable_pub, unused_macros, unused_imports)] // each test uses a subset
#![allow(clippy::unwrap_used)] // these are tests

use tdb_filters::{BoundPipeline, ChunkIndex, Filter, FilterError, FilterPipeline, Scratch, TileKind};
use tdb_types::{Datatype, FormatVersion};

pub const V22: FormatVersion = FormatVersion::DEFAULT;

pub fn version(number: u32) -> FormatVersion {
    FormatVersion::new(number).unwrap()
}

pub fn cells(datatype: Datatype) -> TileKind {
    TileKind::fixed(datatype, 1, V22)
}

pub fn bind(filters: &[Filter], kind: TileKind) -> BoundPipeline {
    BoundPipeline::bind(&FilterPipeline::new(filters.to_vec()), kind).unwrap()
}

pub fn encode(filters: &[Filter], kind: TileKind, tile: &[u8]) -> Result<Vec<u8>, FilterError> {
    let mut out = Vec::new();
    // Like the reference library, which stores any value.
    bind(filters, kind).encode_tile_lossy(tile, None, &mut out, &mut Scratch::new())?;
    Ok(out)
}

pub fn decode(filters: &[Filter], kind: TileKind, filtered: &[u8], len: usize) -> Result<Vec<u8>, FilterError> {
    // Old content must be overwritten.
    let mut tile = vec![0xa5; len];
    bind(filters, kind).decode_tile(filtered, &mut tile, &mut Scratch::new())?;
    Ok(tile)
}

/// A scratch with ascending initialization vectors.
pub fn scratch_with_ivs() -> Scratch {
    let mut count = 0u64;
    Scratch::new().with_ivs(move || {
        count += 1;
        let mut iv = [0; 12];
        iv[..8].copy_from_slice(&count.to_le_bytes());
        iv
    })
}

/// Metadata and data of each chunk.
pub fn chunks(filtered: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let slice = |range: &std::ops::Range<u64>| filtered[range.start as usize..range.end as usize].to_vec();
    let index = ChunkIndex::parse(filtered).unwrap();
    index.chunks().iter().map(|chunk| (slice(&chunk.metadata), slice(&chunk.data))).collect()
}

/// Checks that an encoded tile decodes to the original, and returns metadata and data of its only
/// chunk.
pub fn one_chunk(filters: &[Filter], kind: TileKind, tile: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let filtered = encode(filters, kind, tile).unwrap();
    assert_eq!(decode(filters, kind, &filtered, tile.len()).unwrap(), tile);
    let mut chunks = chunks(&filtered);
    assert_eq!(chunks.len(), 1);
    chunks.remove(0)
}

/// A filtered tile of one chunk.
pub fn tile_of(original: usize, metadata: &[u8], data: &[u8]) -> Vec<u8> {
    let mut tile = 1u64.to_le_bytes().to_vec();
    for len in [original, data.len(), metadata.len()] {
        tile.extend_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
    }
    tile.extend_from_slice(metadata);
    tile.extend_from_slice(data);
    tile
}

pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The little-endian bytes of integers.
macro_rules! le {
    ($type:ty: $($value:expr),* $(,)?) => { [$(<$type>::to_le_bytes($value)),*].concat() };
}
pub(crate) use le;

//! Digests computed for several chunks at once.
#![cfg(feature = "checksum")]

use tdb_types::{Datatype, FormatVersion};

use tdb_filters::{BoundPipeline, ChunkIndex, ChunksAhead, Filter, FilterError, FilterPipeline, Scratch, TileKind};

/// Decodes a tile chunk by chunk, passing all following chunks each time.
fn decode(bound: &BoundPipeline, filtered: &[u8], len: usize) -> Result<Vec<u8>, FilterError> {
    let (mut tile, mut scratch, mut ahead) = (vec![0; len], Scratch::new(), ChunksAhead::default());
    for chunk in ChunkIndex::parse(filtered)?.chunks() {
        let (at, range) = (chunk.metadata.start - 12, chunk.unfiltered.start as usize..chunk.unfiltered.end as usize);
        bound.decode_next(&filtered[at as usize..], at, &mut tile[range], &mut scratch, &mut ahead)?;
    }
    Ok(tile)
}

#[test]
fn chunks_are_checked_against_their_own_digests() {
    let kind = TileKind::fixed(Datatype::UInt8, 1, FormatVersion::DEFAULT);
    for filters in [vec![Filter::Md5], vec![Filter::Byteshuffle, Filter::Md5], vec![Filter::Md5, Filter::Md5]] {
        let bound = BoundPipeline::bind(&FilterPipeline::new(filters), kind).expect("the filters support bytes");
        for chunks in [1, 2, 5, 8, 13] {
            // The last chunk is shorter.
            let tile: Vec<u8> = (0..chunks * 65_536 - 7_u32).map(|byte| (byte % 251 + byte / 65_536) as u8).collect();
            let mut filtered = Vec::new();
            bound.encode_tile(&tile, None, &mut filtered, &mut Scratch::new()).expect("the tile encodes");
            assert!(decode(&bound, &filtered, tile.len()).expect("the tile decodes") == tile);
            let index = ChunkIndex::parse(&filtered).expect("chunks");
            for (number, chunk) in index.chunks().iter().enumerate() {
                let place = (chunk.data.start as usize + number * 999) % (chunk.data.end as usize - 1);
                let place = place.max(chunk.data.start as usize);
                filtered[place] ^= 1;
                for error in [
                    decode(&bound, &filtered, tile.len()).expect_err("a byte is wrong"),
                    bound.decode_tile(&filtered, &mut tile.clone(), &mut Scratch::new()).expect_err("a wrong byte"),
                ] {
                    let error = match error {
                        FilterError::Chunk { chunk, source } if chunk == number as u64 => *source,
                        other => other,
                    };
                    assert!(matches!(error, FilterError::ChecksumMismatch { part: "data", .. }), "{error}");
                }
                filtered[place] ^= 1;
            }
        }
    }
}

//! Random pipelines over random tiles: encoding survives a round trip, and damage is detected or
//! harmless.

use crate::common;

use proptest::prelude::*;
use tdb_filters::{
    BoundPipeline, ChunkHeader, ChunkIndex, ElementTypes, EncryptionKey, Filter, FilterError, FilterPipeline, Scratch,
    TileKind,
};
use tdb_testkit::hostile::{self, SplitMix64};
use tdb_types::{Datatype, FormatVersion, Limits};

const KEY: EncryptionKey = EncryptionKey::new([42; 32]);

/// Lossless filters.
fn lossless_filter() -> impl Strategy<Value = Filter> {
    let reinterpret =
        || prop::option::of(prop::sample::select(vec![Datatype::Int16, Datatype::UInt8, Datatype::Int64]));
    let window = || prop::sample::select(vec![8u32, 20, 256, 1024]);
    prop_oneof![
        Just(Filter::None),
        (-1..10).prop_map(|level| Filter::Gzip { level }),
        (-8..6).prop_map(|level| Filter::Zstd { level }),
        Just(Filter::Lz4 { level: -1 }),
        Just(Filter::Rle { level: -1 }),
        (-1..10).prop_map(|level| Filter::Bzip2 { level }),
        reinterpret().prop_map(|reinterpret| Filter::DoubleDelta { level: -1, reinterpret }),
        reinterpret().prop_map(|reinterpret| Filter::Delta { level: -1, reinterpret }),
        window().prop_map(|max_window| Filter::BitWidthReduction { max_window }),
        window().prop_map(|max_window| Filter::PositiveDelta { max_window }),
        Just(Filter::Bitshuffle),
        Just(Filter::Byteshuffle),
        Just(Filter::Xor),
        Just(Filter::Md5),
        Just(Filter::Sha256),
        Just(Filter::Aes256Gcm),
    ]
}

fn datatype() -> impl Strategy<Value = Datatype> {
    prop::sample::select(Datatype::ALL)
}

fn kind() -> impl Strategy<Value = TileKind> {
    let number = prop::sample::select(vec![1u32, 1, 1, 2, 3, 7]);
    let version = prop::sample::select(FormatVersion::all().collect::<Vec<_>>());
    let types = prop::sample::select(vec![ElementTypes::Stage, ElementTypes::Tile]);
    (datatype(), number, version, types).prop_map(|(datatype, number, version, types)| {
        TileKind::fixed(datatype, number, version).with_element_types(types)
    })
}

/// Tiles of at most `most` cells, in shapes typical for the filters.
fn tile(cell_size: usize, value_size: usize, most: usize) -> impl Strategy<Value = Vec<u8>> {
    (0..most, 0..4u8, any::<u64>()).prop_map(move |(cells, shape, seed)| {
        let mut rng = SplitMix64::new(seed);
        let mut value = 0u64;
        let mut tile = Vec::new();
        while tile.len() < cells * cell_size {
            value = match shape {
                0 => rng.next(),
                1 => value.wrapping_add(rng.next() % 100),
                2 if rng.below(50) > 0 => value,
                2 => rng.next(),
                _ => rng.next() % 50,
            };
            tile.extend_from_slice(&value.to_le_bytes()[..value_size]);
        }
        tile
    })
}

fn kind_and_tile(most: usize) -> impl Strategy<Value = (TileKind, Vec<u8>)> {
    kind().prop_flat_map(move |kind| (Just(kind), tile(kind.cell_size as usize, kind.datatype.size(), most)))
}

/// Returns `true` for rejections required by the format rather than this library: see
/// `docs/reference/filters.md`.
fn is_refusal(error: &FilterError) -> bool {
    matches!(error.root(), FilterError::PartialValue { .. } | FilterError::NotAscending { .. })
}

/// Encodes a tile. Returns `None` if the format requires a rejection.
fn encoded(bound: &BoundPipeline, tile: &[u8], offsets: Option<&[u64]>) -> Option<(Vec<u8>, Scratch)> {
    let (mut scratch, mut filtered) = (common::scratch_with_ivs(), Vec::new());
    match bound.encode_tile(tile, offsets, &mut filtered, &mut scratch) {
        Err(error) if is_refusal(&error) => return None,
        result => result.unwrap(),
    }
    Some((filtered, scratch))
}

fn refused() -> TestCaseError {
    TestCaseError::reject("refused")
}

/// Checks that written chunks pass `ChunkHeader::check_payload`.
fn check_bounds(filtered: &[u8], offsets: u64) {
    let index = ChunkIndex::parse(filtered).unwrap();
    assert!(index.chunks().len() as u64 <= ChunkHeader::most_in_tile(index.unfiltered_len()));
    let len = |range: &std::ops::Range<u64>| u32::try_from(range.end - range.start).unwrap();
    for chunk in index.chunks() {
        let (original, filtered) = (len(&chunk.unfiltered), len(&chunk.data));
        let header = ChunkHeader { original, filtered, metadata: len(&chunk.metadata) };
        header.check_payload(offsets, Limits::default().tile_bytes).unwrap();
    }
}

#[test]
fn expanded_noise_is_plausible_to_readers() {
    let mut rng = SplitMix64::new(9);
    let noise: Vec<u8> = (0..100_000).map(|_| rng.next() as u8).collect();
    let ascending: Vec<u8> = (0..100_000_u32).map(|index| (index / 400) as u8).collect();
    // The shortest possible windows, of one value each.
    let windows = Filter::BitWidthReduction { max_window: 2 };
    let deltas = Filter::PositiveDelta { max_window: 2 };
    let pipelines = [
        vec![Filter::Rle { level: -1 }],
        vec![deltas.clone()],
        vec![deltas, windows.clone()],
        vec![windows.clone(), Filter::Rle { level: -1 }],
        vec![windows.clone(), windows.clone(), Filter::Sha256],
        vec![windows.clone(), windows, Filter::Bzip2 { level: 1 }, Filter::Aes256Gcm],
    ];
    for filters in pipelines {
        let (pipeline, kind) = (FilterPipeline::new(filters), common::cells(Datatype::UInt16));
        let bound = BoundPipeline::bind_with_key(&pipeline, kind, Some(&KEY)).unwrap();
        for tile in [&noise, &ascending] {
            if let Some((filtered, _)) = encoded(&bound, tile, None) {
                println!("{pipeline}: {} times its bytes", filtered.len() / tile.len());
                check_bounds(&filtered, 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pipeline_comes_back(
        filters in prop::collection::vec(lossless_filter(), 0..5),
        (kind, tile) in kind_and_tile(700),
        max_chunk_size in prop::sample::select(vec![0u32, 64, 65_536]),
    ) {
        let pipeline = FilterPipeline { max_chunk_size, filters };
        let bound = match BoundPipeline::bind_with_key(&pipeline, kind, Some(&KEY)) {
            Ok(bound) => bound,
            Err(FilterError::UnsupportedDatatype { .. }) => return Ok(()),
            Err(error) => panic!("{pipeline}: {error}"),
        };
        let (mut scratch, mut filtered) = (common::scratch_with_ivs(), b"before".to_vec());
        match bound.encode_tile(&tile, None, &mut filtered, &mut scratch) {
            Err(error) if is_refusal(&error) => {
                prop_assert_eq!(filtered, b"before".to_vec());
                return Ok(());
            }
            result => result.unwrap(),
        }
        let filtered = &filtered[6..];
        check_bounds(filtered, 0);
        let mut back = vec![0xa5; tile.len()];
        bound.decode_tile(filtered, &mut back, &mut scratch).unwrap();
        prop_assert!(back == tile, "{} over {:?}", pipeline, kind);
        // Decoding chunk by chunk gives the same bytes.
        for chunk in ChunkIndex::parse(filtered).unwrap().chunks() {
            let place = chunk.unfiltered.start as usize..chunk.unfiltered.end as usize;
            let mut piece = vec![0x5a; place.len()];
            bound.decode_chunk(filtered, chunk, &mut piece, &mut scratch).unwrap();
            prop_assert_eq!(&piece[..], &tile[place]);
        }
        // A new scratch produces the same bytes.
        let mut again = Vec::new();
        bound.encode_tile(&tile, None, &mut again, &mut common::scratch_with_ivs()).unwrap();
        prop_assert!(again == filtered, "{} is not reproducible", pipeline);
    }

    #[test]
    fn coordinates_round_trip(
        filters in prop::collection::vec(lossless_filter(), 0..3),
        dimensions in 1..5u32,
        number in 1..5u32,
        cells in 0..200usize,
        datatype in prop::sample::select(vec![Datatype::Int8, Datatype::UInt16, Datatype::Float32, Datatype::Int64]),
        seed in any::<u64>(),
    ) {
        let kind = TileKind::coordinates(datatype, dimensions, common::version(number));
        let pipeline = FilterPipeline { max_chunk_size: 256, filters };
        let Ok(bound) = BoundPipeline::bind_with_key(&pipeline, kind, Some(&KEY)) else { return Err(refused()) };
        let mut rng = SplitMix64::new(seed);
        let tile: Vec<u8> = (0..cells * kind.cell_size as usize).map(|_| rng.next() as u8).collect();
        let (filtered, mut scratch) = encoded(&bound, &tile, None).ok_or_else(refused)?;
        let mut back = vec![0xa5; tile.len()];
        bound.decode_tile(&filtered, &mut back, &mut scratch).unwrap();
        prop_assert_eq!(back, tile);
    }

    #[test]
    fn strings_round_trip(
        first in prop::sample::select(vec![Filter::Rle { level: -1 }, Filter::Dictionary { level: -1 }]),
        rest in prop::collection::vec(lossless_filter(), 0..3),
        cells in prop::collection::vec(prop::sample::select(vec!["", "a", "bc", "naïve", "a longer string, much"]), 0..400),
        long in 0..3usize,
    ) {
        let mut cells: Vec<String> = cells.into_iter().map(str::to_owned).collect();
        cells.extend((0..long).map(|index| "x".repeat(200 + index * 100)));
        let values = cells.concat();
        let offsets: Vec<u64> =
            cells.iter().scan(0, |end, cell| Some(std::mem::replace(end, *end + cell.len() as u64))).collect();
        let pipeline = FilterPipeline::new([vec![first], rest].concat());
        let kind = TileKind::var_data(Datatype::StringUtf8, common::V22);
        let bound = BoundPipeline::bind_with_key(&pipeline, kind, Some(&KEY)).unwrap();
        let (filtered, mut scratch) = encoded(&bound, values.as_bytes(), Some(&offsets)).ok_or_else(refused)?;
        check_bounds(&filtered, 8 * offsets.len() as u64);
        let (mut back, mut starts) = (vec![0xa5; values.len()], Vec::new());
        bound.decode_strings(&filtered, &mut back, &mut starts, cells.len() as u64, &mut scratch).unwrap();
        prop_assert_eq!((back, starts), (values.into_bytes(), offsets));
    }

    #[test]
    fn variable_cells_round_trip(
        filters in prop::collection::vec(lossless_filter(), 0..3),
        lengths in prop::collection::vec(prop::sample::select(vec![0u64, 1, 3, 500, 30_000, 70_000]), 0..12),
        datatype in prop::sample::select(vec![Datatype::Blob, Datatype::Int32, Datatype::Char]),
    ) {
        let mut offsets = Vec::new();
        let size = datatype.size() as u64;
        let len = lengths.iter().fold(0, |start, len| { offsets.push(start); start + len * size });
        let tile: Vec<u8> = (0..len).map(|byte| (byte / 7 % 251) as u8).collect();
        let (pipeline, kind) = (FilterPipeline::new(filters), TileKind::var_data(datatype, common::V22));
        let Ok(bound) = BoundPipeline::bind_with_key(&pipeline, kind, Some(&KEY)) else { return Err(refused()) };
        let (filtered, mut scratch) = encoded(&bound, &tile, Some(&offsets)).ok_or_else(refused)?;
        let mut back = vec![0xa5; tile.len()];
        bound.decode_tile(&filtered, &mut back, &mut scratch).unwrap();
        prop_assert!(back == tile);
        // Chunks begin at cell boundaries.
        for chunk in ChunkIndex::parse(&filtered).unwrap().chunks() {
            let start = chunk.unfiltered.start;
            prop_assert!(start == len || offsets.contains(&start), "{start} is inside a cell");
        }
    }

    #[test]
    fn shuffles_match_the_model(
        datatype in datatype(),
        len in 0..40_000usize,
        seed in any::<u64>(),
    ) {
        let mut rng = SplitMix64::new(seed);
        let size = datatype.size();
        let tile: Vec<u8> = (0..len / size * size).map(|_| rng.next() as u8).collect();
        let kind = common::cells(datatype);
        if tile.is_empty() { return Ok(()) }
        prop_assert!(common::one_chunk(&[Filter::Byteshuffle], kind, &tile).1 == model::byteshuffle(size, &tile));
        prop_assert!(common::one_chunk(&[Filter::Bitshuffle], kind, &tile).1 == model::bitshuffle(size, &tile));
        prop_assert!(common::one_chunk(&[Filter::Xor], kind, &tile).1 == model::xor(size, &tile));
    }
}

/// Bit-by-bit models of the filters, following the format's description.
mod model {
    pub(super) fn byteshuffle(size: usize, tile: &[u8]) -> Vec<u8> {
        let cells = tile.len() / size;
        let mut out = tile.to_vec();
        for cell in 0..cells {
            for byte in 0..size {
                out[byte * cells + cell] = tile[cell * size + byte];
            }
        }
        out
    }

    pub(super) fn bitshuffle(size: usize, tile: &[u8]) -> Vec<u8> {
        let (whole, rest) = tile.split_at(tile.len() / 8 * 8);
        let mut out = Vec::new();
        for block in whole.chunks(8192) {
            let mut shuffled = block.to_vec();
            let cells = block.len() / size / 8 * 8;
            if whole.len() % size == 0 {
                shuffled[..cells * size].fill(0);
                for cell in 0..cells {
                    for bit in 0..8 * size {
                        let value = block[cell * size + bit / 8] >> (bit % 8) & 1;
                        shuffled[bit * (cells / 8) + cell / 8] |= value << (cell % 8);
                    }
                }
            }
            out.extend(shuffled);
        }
        out.extend(rest);
        out
    }

    pub(super) fn xor(size: usize, tile: &[u8]) -> Vec<u8> {
        (0..tile.len()).map(|byte| if byte < size { tile[byte] } else { tile[byte] ^ tile[byte - size] }).collect()
    }
}

/// Tiles encoded with each filter, and with a few longer pipelines.
fn samples() -> Vec<(FilterPipeline, TileKind, Vec<u8>)> {
    let one = |filter| vec![filter];
    let pipelines = [
        one(Filter::Gzip { level: -1 }),
        one(Filter::Zstd { level: 3 }),
        one(Filter::Lz4 { level: -1 }),
        one(Filter::Bzip2 { level: -1 }),
        one(Filter::Rle { level: -1 }),
        one(Filter::DoubleDelta { level: -1, reinterpret: None }),
        one(Filter::Delta { level: -1, reinterpret: None }),
        one(Filter::BitWidthReduction { max_window: 64 }),
        one(Filter::PositiveDelta { max_window: 64 }),
        one(Filter::Bitshuffle),
        one(Filter::Byteshuffle),
        one(Filter::Xor),
        one(Filter::Md5),
        one(Filter::Sha256),
        one(Filter::FloatScale { scale: 0.5, offset: 1.0, byte_width: 4 }),
        vec![Filter::Byteshuffle, Filter::Bitshuffle, Filter::Md5, Filter::Lz4 { level: -1 }],
        vec![Filter::BitWidthReduction { max_window: 64 }, Filter::Zstd { level: 1 }, Filter::Sha256],
        vec![Filter::PositiveDelta { max_window: 64 }, Filter::Rle { level: -1 }, Filter::Gzip { level: 1 }],
        vec![],
    ];
    let tile: Vec<u8> = (0..60u32).flat_map(|value| (value * value / 4).to_le_bytes()).collect();
    let kind = common::cells(Datatype::UInt32);
    let encoded = |filters: Vec<Filter>| {
        let filtered = common::encode(&filters, kind, &tile).unwrap();
        (FilterPipeline::new(filters), kind, filtered)
    };
    // The third pipeline has no run-length encoding of whole cells after the headers of the
    // windows.
    pipelines.into_iter().filter(|filters| common::encode(filters, kind, &tile).is_ok()).map(encoded).collect()
}

#[test]
fn incompressible_bytes_have_room() {
    let mut rng = SplitMix64::new(5);
    let noise: Vec<u8> = (0..200_000).map(|_| rng.next() as u8).collect();
    for len in [0, 1, 100, 5_000, 65_536, 200_000] {
        for level in -1..10 {
            for filter in [Filter::Gzip { level }, Filter::Zstd { level }, Filter::Lz4 { level }] {
                let pipeline = FilterPipeline { max_chunk_size: 0, filters: vec![filter] };
                let bound = BoundPipeline::bind(&pipeline, TileKind::validity(common::V22)).unwrap();
                let mut filtered = Vec::new();
                bound.encode_tile(&noise[..len], None, &mut filtered, &mut Scratch::new()).unwrap();
                assert!(filtered.len() >= len, "noise does not shrink");
            }
        }
    }
}

#[test]
fn truncated_chunks_are_rejected() {
    let samples = samples();
    assert!(samples.len() >= 18);
    for (pipeline, kind, filtered) in samples {
        let bound = BoundPipeline::bind(&pipeline, kind).unwrap();
        let (mut tile, mut scratch) = (vec![0; 240], Scratch::new());
        bound.decode_tile(&filtered, &mut tile, &mut scratch).unwrap();
        for truncated in hostile::truncations(&filtered) {
            bound.decode_tile(truncated, &mut tile, &mut scratch).unwrap_err();
        }
        // Headers with matching lengths.
        let (metadata, data) = common::chunks(&filtered).remove(0);
        for metadata in hostile::truncations(&metadata) {
            let truncated = common::tile_of(240, metadata, &data);
            let result = bound.decode_tile(&truncated, &mut tile, &mut scratch);
            assert!(result.is_err(), "{pipeline}: {} bytes of metadata", metadata.len());
        }
        for data in hostile::truncations(&data) {
            let truncated = common::tile_of(240, &metadata, data);
            let result = bound.decode_tile(&truncated, &mut tile, &mut scratch);
            assert!(result.is_err(), "{pipeline}: {} bytes of data", data.len());
        }
        // A tile of another size is rejected.
        bound.decode_tile(&filtered, &mut tile[..236], &mut scratch).unwrap_err();
        bound.decode_tile(&filtered, &mut [0; 244], &mut scratch).unwrap_err();
    }
}

#[test]
fn damage_is_detected_or_harmless() {
    for (seed, (pipeline, kind, filtered)) in (0..).zip(samples()) {
        let bound = BoundPipeline::bind(&pipeline, kind).unwrap();
        let (mut tile, mut scratch) = (vec![0; 240], Scratch::with_limits(Limits::SMALL));
        bound.decode_tile(&filtered, &mut tile, &mut scratch).unwrap();
        let original = tile.clone();
        let ends_with_digest =
            matches!(pipeline.filters.last(), Some(Filter::Md5 | Filter::Sha256)) && pipeline.filters.len() == 1;
        hostile::single_byte_changes(&filtered, |changed| {
            let result = bound.decode_tile(changed, &mut tile, &mut scratch);
            assert!(!ends_with_digest || result.is_err() || tile == original, "{pipeline} misses damage");
        });
        hostile::seeded_mutations(seed, &filtered, 3000, |changed| {
            drop(bound.decode_tile(changed, &mut tile, &mut scratch));
            drop(ChunkIndex::parse(changed));
        });
    }
}

#[test]
fn damage_of_strings_is_detected_or_harmless() {
    for first in [Filter::Rle { level: -1 }, Filter::Dictionary { level: -1 }] {
        for rest in [vec![], vec![Filter::Lz4 { level: -1 }], vec![Filter::Bitshuffle, Filter::Md5]] {
            let pipeline = FilterPipeline::new([vec![first.clone()], rest].concat());
            let kind = TileKind::var_data(Datatype::StringAscii, FormatVersion::DEFAULT);
            let bound = BoundPipeline::bind(&pipeline, kind).unwrap();
            let (mut scratch, mut filtered) = (Scratch::with_limits(Limits::SMALL), Vec::new());
            bound.encode_tile(b"aaabbbbbc", Some(&[0, 3, 3, 4, 8, 8]), &mut filtered, &mut scratch).unwrap();
            let (mut values, mut offsets) = ([0; 9], Vec::new());
            let mut check = |bytes: &[u8]| {
                let result = bound.decode_strings(bytes, &mut values, &mut offsets, 6, &mut scratch);
                if result.is_ok() {
                    assert_eq!(offsets.len(), 6);
                    assert!(offsets.is_sorted() && offsets.iter().all(|&offset| offset <= 9), "{offsets:?}");
                }
                result
            };
            check(&filtered).unwrap();
            hostile::truncations(&filtered).for_each(|bytes| drop(check(bytes).unwrap_err()));
            hostile::single_byte_changes(&filtered, |bytes| drop(check(bytes)));
            hostile::seeded_mutations(1, &filtered, 5000, |bytes| drop(check(bytes)));
            let other = bound.decode_strings(&filtered, &mut [0; 9], &mut Vec::new(), 7, &mut Scratch::new());
            assert!(matches!(other, Err(FilterError::WrongCellCount { expected: 7, found: 6, .. })), "{other:?}");
        }
    }
}

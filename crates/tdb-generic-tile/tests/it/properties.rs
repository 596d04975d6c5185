//! Round trips of tiles with any payload, version and pipeline, in the same chunks as in the
//! reference library.

#![cfg(feature = "all-codecs")]

use proptest::prelude::*;
use tdb_filters::{ChunkIndex, Filter, FilterPipeline};
use tdb_generic_tile::{GenericTile, GenericTileDecoder, GenericTileEncoder, GenericTileHeader};
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits, Spans};

/// Compressible and incompressible bytes.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3000),
        (any::<u8>(), 0usize..200_000).prop_map(|(byte, len)| vec![byte; len]),
        (any::<u64>(), 0usize..150_000).prop_map(|(seed, len)| {
            let mut rng = tdb_testkit::hostile::SplitMix64::new(seed);
            (0..len).map(|_| rng.next().to_le_bytes()[0] & 0x3f).collect()
        }),
    ]
}

/// Pipelines that support bytes.
fn pipeline() -> impl Strategy<Value = FilterPipeline> {
    let filters = vec![
        Filter::None,
        Filter::Gzip { level: 9 },
        Filter::Zstd { level: 3 },
        Filter::Lz4 { level: 1 },
        Filter::Bzip2 { level: 1 },
        Filter::Rle { level: -1 },
        Filter::Byteshuffle,
        Filter::Bitshuffle,
        Filter::Xor,
        Filter::Md5,
        Filter::Sha256,
    ];
    let one = prop::collection::vec(prop::sample::select(filters), 0..3).prop_map(FilterPipeline::new);
    prop_oneof![2 => Just(FilterPipeline::generic_tile()), 3 => one]
}

fn encoded(payload: &[u8], version: FormatVersion, pipeline: &FilterPipeline) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    GenericTileEncoder::new(version).with_pipeline(pipeline.clone()).encode(payload, &mut writer).unwrap();
    writer.into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn written_tiles_round_trip(payload in payload(), version in 1u32..24, pipeline in pipeline()) {
        let version = FormatVersion::new(version).unwrap();
        let bytes = encoded(&payload, version, &pipeline);
        let tile = GenericTile::parse_file(&bytes, &Limits::default(), None).unwrap();
        prop_assert_eq!(&tile.payload, &payload);
        prop_assert_eq!(tile.header.version, version);
        prop_assert_eq!(&tile.header.pipeline, &pipeline);
        let spans = Spans::new();
        let recorded = GenericTile::parse_file(&bytes, &Limits::default(), Some(&spans)).unwrap();
        prop_assert_eq!((recorded.header, recorded.payload), (tile.header, tile.payload));
    }

    #[test]
    fn many_tiles_in_a_row(payloads in prop::collection::vec(payload(), 1..5)) {
        let mut encoder = GenericTileEncoder::new(FormatVersion::DEFAULT);
        let mut writer = ByteWriter::new();
        for payload in &payloads {
            encoder.encode(payload, &mut writer).unwrap();
        }
        let mut reader = ByteReader::at(writer.as_slice(), 1000);
        let mut decoder = GenericTileDecoder::new(Limits::default());
        for payload in &payloads {
            let offset = reader.offset();
            let tile = decoder.decode(&mut reader).unwrap();
            prop_assert_eq!(&tile.payload, payload);
            prop_assert_eq!((tile.offset, reader.offset()), (offset, offset + tile.stored_len()));
        }
        reader.finish("tiles").unwrap();
    }

    #[test]
    fn a_reused_encoder_writes_the_same_bytes(
        payloads in prop::collection::vec(prop::collection::vec(0u8..2, 0..12), 1..60),
        version in 1u32..24,
    ) {
        let version = FormatVersion::new(version).unwrap();
        let mut encoder = GenericTileEncoder::new(version);
        for payload in &payloads {
            let mut writer = ByteWriter::new();
            encoder.encode(payload, &mut writer).unwrap();
            // The encoder has another header, so no cached state applies.
            let new = encoded(payload, version, &FilterPipeline::new(vec![Filter::Gzip { level: 1 }]));
            prop_assert_eq!(writer.as_slice(), new);
        }
    }

    #[test]
    fn truncated_tiles_and_trailing_bytes_are_rejected(payload in prop::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()) {
        let mut bytes = encoded(&payload, FormatVersion::DEFAULT, &FilterPipeline::generic_tile());
        let refused = |bytes: &[u8]| GenericTile::parse_file(bytes, &Limits::default(), None).is_err();
        prop_assert!(refused(&bytes[..cut.index(bytes.len())]));
        bytes.push(0);
        prop_assert!(refused(&bytes));
    }
}

/// The chunk sizes of 200044 bytes in a tile of the reference library.
#[test]
fn chunks_have_64_kib() {
    let bytes = encoded(&vec![1; 200_044], FormatVersion::DEFAULT, &FilterPipeline::generic_tile());
    let header = GenericTileHeader::parse(&mut ByteReader::new(&bytes)).unwrap();
    let filtered = &bytes[usize::try_from(header.header_len()).unwrap()..];
    let sizes: Vec<_> = ChunkIndex::parse(filtered)
        .unwrap()
        .chunks()
        .iter()
        .map(|chunk| chunk.unfiltered.end - chunk.unfiltered.start)
        .collect();
    assert_eq!(sizes, [65_536, 65_536, 65_536, 3_436]);
}

/// Compares every field that all libraries write before the filtered bytes.
#[test]
fn the_header_has_the_bytes_of_the_format() {
    let mut writer = ByteWriter::new();
    GenericTile::write(b"abc", &mut writer).unwrap();
    let bytes = writer.into_bytes();
    let persisted = u8::try_from(bytes.len() - 52).unwrap();
    let fields: [&[u8]; 8] = [
        &[22, 0, 0, 0],
        &[persisted, 0, 0, 0, 0, 0, 0, 0],
        &[3, 0, 0, 0, 0, 0, 0, 0],
        &[4],
        &[1, 0, 0, 0, 0, 0, 0, 0],
        &[0],
        &[18, 0, 0, 0],
        &[0, 0, 1, 0, 1, 0, 0, 0, 1, 5, 0, 0, 0, 1, 1, 0, 0, 0],
    ];
    assert_eq!(bytes[..52], fields.concat());
}

#[test]
fn payloads_may_be_empty() {
    let mut writer = ByteWriter::new();
    GenericTile::write(b"", &mut writer).unwrap();
    // The tile has no chunks.
    assert_eq!(writer.as_slice()[52..], [0; 8]);
    let tile = GenericTile::parse_file(writer.as_slice(), &Limits::default(), None).unwrap();
    assert_eq!(tile.payload, b"");
    // Some libraries write a single empty chunk instead.
    let mut bytes = writer.into_bytes();
    bytes.truncate(52);
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0].iter().chain(&[0; 12]));
    bytes[4] = 20;
    bytes[30] = 8;
    bytes.drain(42..52);
    bytes[38] = 0;
    let tile = GenericTile::parse_file(&bytes, &Limits::default(), None).unwrap();
    assert_eq!((tile.payload.len(), tile.header.pipeline.to_string()), (0, "no filters".to_owned()));
}

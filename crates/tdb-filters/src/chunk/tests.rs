use super::*;

/// Three chunks: 4 bytes with 2 bytes of metadata, an empty chunk, and 3 bytes stored as 1.
const TILE: &[u8] = &[
    3, 0, 0, 0, 0, 0, 0, 0, //
    4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xab, 1, 2, 3, 4, //
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
    3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9,
];

#[test]
fn chunks_are_contiguous() {
    let index = ChunkIndex::parse(TILE).unwrap();
    let [first, second, third] = index.chunks() else { panic!("{index:?}") };
    assert_eq!((first.metadata.clone(), first.data.clone(), first.unfiltered.clone()), (20..22, 22..26, 0..4));
    assert_eq!((second.data.clone(), second.unfiltered.clone()), (38..38, 4..4));
    assert_eq!((third.data.clone(), third.unfiltered.clone()), (50..51, 4..7));
    assert_eq!(index.unfiltered_len(), 7);
}

#[test]
fn covering_finds_the_chunks_of_a_range() {
    let index = ChunkIndex::parse(TILE).unwrap();
    assert_eq!(index.covering(0..4), &index.chunks()[..1]);
    assert_eq!(index.covering(3..5), index.chunks());
    assert_eq!(index.covering(4..7), &index.chunks()[2..]);
    assert!(index.covering(2..2).is_empty());
    assert!(index.covering(7..9).is_empty());
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 5..3;
    assert!(index.covering(backwards).is_empty());
}

#[test]
fn a_tile_may_have_no_chunks() {
    let index = ChunkIndex::parse(&[0; 8]).unwrap();
    assert!(index.chunks().is_empty());
    assert_eq!(index.unfiltered_len(), 0);
}

#[test]
fn headers_round_trip() {
    let header = ChunkHeader { original: 1, filtered: 0x0203_0405, metadata: u32::MAX };
    assert_eq!(header.to_bytes(), [1, 0, 0, 0, 5, 4, 3, 2, 255, 255, 255, 255]);
    assert_eq!(ChunkHeader::parse(&header.to_bytes()), header);
    assert_eq!(header.payload(), 0x0203_0405 + 0xffff_ffff);
}

#[test]
fn truncated_and_trailing_bytes_are_rejected() {
    for truncated in tdb_testkit::hostile::truncations(TILE) {
        ChunkIndex::parse(truncated).unwrap_err();
    }
    let mut longer = TILE.to_vec();
    longer.push(0);
    insta::assert_snapshot!(ChunkIndex::parse(&longer).unwrap_err(), @"filtered tile: found 1 unexpected bytes at 0x33");
    insta::assert_snapshot!(
        ChunkIndex::parse(&[255; 20]).unwrap_err(),
        @"chunks: expected 18446744073709551615 bytes at 0x8, found 12"
    );
}

#[test]
fn implausibly_long_chunks_are_rejected() {
    let header = |original, filtered, metadata| ChunkHeader { original, filtered, metadata };
    let limit = 4 << 20;
    header(10, 60_000, 5_536).check_payload(0, limit).unwrap();
    header(0, 0, 0).check_payload(0, limit).unwrap();
    header(10_000, 5_120_000, 0).check_payload(0, limit).unwrap();
    header(10_000, 5_124_096, 0).check_payload(8, limit).unwrap();
    // The bound is never more than twice the limit.
    header(1 << 20, 8 << 20, 0).check_payload(0, limit).unwrap();
    for (header, max) in [
        (header(10, 60_000, 5_537), 64 << 10),
        (header(10_000, 5_120_001, 0), 5_120_000),
        (header(1 << 20, 8 << 20, 1), 8 << 20),
        (header(0, u32::MAX, u32::MAX), 64 << 10),
    ] {
        let error = header.check_payload(0, limit).unwrap_err();
        assert!(matches!(error, FilterError::ImplausibleChunk { max: found, .. } if found == max), "{error}");
    }
    assert_eq!((ChunkHeader::most_in_tile(0), ChunkHeader::most_in_tile(u64::MAX)), (1024, u64::MAX));
}

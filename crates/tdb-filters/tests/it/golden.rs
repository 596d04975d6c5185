//! Bytes written by the reference library, filter by filter.

use crate::common;

use crate::common::{V22, cells, chunks, decode, encode, hex, le, one_chunk, tile_of};
use tdb_filters::{BoundPipeline, EncryptionKey, Filter, FilterPipeline, Scratch, TileKind};
use tdb_types::Datatype;

const RLE: Filter = Filter::Rle { level: -1 };
const GZIP: Filter = Filter::Gzip { level: -1 };
const DOUBLE_DELTA: Filter = Filter::DoubleDelta { level: -1, reinterpret: None };
const DELTA: Filter = Filter::Delta { level: -1, reinterpret: None };
const DICTIONARY: Filter = Filter::Dictionary { level: -1 };

/// The header of a compressor with one data part.
fn frame(original: u32, compressed: u32) -> Vec<u8> {
    le!(u32: 0, 1, original, compressed)
}

#[test]
fn no_filter() {
    assert_eq!(one_chunk(&[], cells(Datatype::Int32), &[1, 2, 3, 4]), (vec![], vec![1, 2, 3, 4]));
    assert_eq!(one_chunk(&[Filter::None], cells(Datatype::Int32), &[1, 2, 3, 4]), (vec![], vec![1, 2, 3, 4]));
}

#[test]
fn compressors_have_their_magic() {
    let data = |filter: Filter| one_chunk(&[filter], cells(Datatype::UInt8), &[7; 1000]).1;
    assert_eq!(data(Filter::Gzip { level: 0 })[..2], [0x78, 0x01]);
    assert_eq!(data(Filter::Gzip { level: 1 })[..2], [0x78, 0x01]);
    assert_eq!(data(GZIP)[..2], [0x78, 0x9c]);
    assert_eq!(data(Filter::Gzip { level: 9 })[..2], [0x78, 0xda]);
    assert_eq!(data(Filter::Bzip2 { level: -1 })[..4], *b"BZh1");
    assert_eq!(data(Filter::Bzip2 { level: 9 })[..4], *b"BZh9");
    // The magic number, then a single segment with a content size of two bytes (minus 256), no
    // checksum, no dictionary.
    assert_eq!(data(Filter::Zstd { level: -1 })[..7], [0x28, 0xb5, 0x2f, 0xfd, 0x60, 0xe8, 0x02]);
}

#[test]
fn rle() {
    let (metadata, data) = one_chunk(&[RLE], TileKind::validity(V22), &[1, 1, 1, 0, 1]);
    assert_eq!(metadata, frame(5, 9));
    assert_eq!(data, [1, 0, 3, 0, 0, 1, 1, 0, 1]);
    // Strings of fixed size are encoded as units.
    let kind = TileKind::fixed(Datatype::StringAscii, 5, V22);
    assert_eq!(one_chunk(&[RLE], kind, b"abcdeabcdexxxxx").1, b"abcde\0\x02xxxxx\0\x01");
    // A run longer than 65535 is split. Ordinary chunks are shorter, so the pipeline disables
    // chunking.
    let pipeline = FilterPipeline { max_chunk_size: 0, filters: vec![RLE] };
    let bound = BoundPipeline::bind(&pipeline, TileKind::validity(V22)).unwrap();
    let mut out = Vec::new();
    bound.encode_tile(&[9; 65_537], None, &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(common::chunks(&out)[0].1, [9, 0xff, 0xff, 9, 0, 2]);
    // A run of zero cells is empty.
    let tile = tile_of(2, &frame(2, 6), &[5, 0, 0, 6, 0, 2]);
    assert_eq!(decode(&[RLE], TileKind::validity(V22), &tile, 2).unwrap(), [6, 6]);
}

#[test]
fn double_delta() {
    let pack = |values: &[i32]| {
        let tile: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        one_chunk(&[DOUBLE_DELTA], cells(Datatype::Int32), &tile).1
    };
    // The bits include the first difference: 100 needs 7.
    let expected = [&[7][..], &le!(u64: 4), &le!(i32: 0, 100), &[0; 8]].concat();
    assert_eq!(pack(&[0, 100, 200, 300]), expected);
    assert_eq!(pack(&[5]), [&[0][..], &le!(u64: 1), &le!(i32: 5)].concat());
    assert_eq!(pack(&[5, -5]), [&[0][..], &le!(u64: 2), &le!(i32: 5, -5)].concat());
    // Differences 1, 1, 0, 2 give 0, -1, 2 after the first, with 2 bits and a sign each, from bit
    // 63 down.
    let word = 0b000_101_010u64 << 55;
    assert_eq!(pack(&[1, 2, 3, 3, 5]), [&[2][..], &le!(u64: 5), &le!(i32: 1, 2), &le!(u64: word)].concat());
    // The differences need more bits than the type has.
    let wild = le!(i32: 0, i32::MAX, i32::MIN);
    assert_eq!(pack(&[0, i32::MAX, i32::MIN]), [&[33][..], &le!(u64: 3), &wild].concat());
}

#[test]
fn double_delta_fills_words_exactly() {
    // 7 bits and a sign: 8 further values fill exactly one word, without an additional empty word.
    let values: Vec<u8> =
        [0u16, 100, 200, 300, 400, 500, 600, 700, 800, 900].into_iter().flat_map(u16::to_le_bytes).collect();
    let (_, data) = one_chunk(&[DOUBLE_DELTA], cells(Datatype::UInt16), &values);
    assert_eq!(data.len(), 9 + 4 + 8);
}

#[test]
fn double_delta_with_a_partial_value_is_raw() {
    let kind = TileKind::fixed(Datatype::Int32, 1, V22);
    // After a filter with output lengths other than multiples of 4 bytes.
    let filters = [GZIP, DOUBLE_DELTA];
    for len in 0..50 {
        let tile: Vec<u8> = (0..len * 4).map(|byte| byte as u8).collect();
        let filtered = encode(&filters, kind, &tile).unwrap();
        assert_eq!(decode(&filters, kind, &filtered, tile.len()).unwrap(), tile);
    }
    // Differences beyond 64 bits, where the reference library fails.
    let tile = le!(i64: i64::MIN, i64::MAX, 0);
    let (_, data) = one_chunk(&[DOUBLE_DELTA], cells(Datatype::Int64), &tile);
    assert_eq!(data, [&[63][..], &le!(u64: 3), &tile].concat());
}

#[test]
fn delta() {
    let tile = le!(i32: 10, 12, 5, i32::MIN);
    let (metadata, data) = one_chunk(&[DELTA], cells(Datatype::Int32), &tile);
    assert_eq!(metadata, frame(16, 24));
    assert_eq!(data, [le!(u64: 4), le!(i32: 10, 2, -7, i32::MIN.wrapping_sub(5))].concat());
    // The filter reinterprets the values of the tile.
    let reinterpret = Filter::Delta { level: -1, reinterpret: Some(Datatype::UInt8) };
    assert_eq!(
        one_chunk(&[reinterpret], cells(Datatype::Int32), &[1, 3, 2, 2]).1,
        [4, 0, 0, 0, 0, 0, 0, 0, 1, 2, 255, 0]
    );
}

/// Encodes strings and checks the round trip.
fn strings(filter: Filter, cells: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
    let bound = common::bind(&[filter], TileKind::var_data(Datatype::StringAscii, V22));
    assert!(bound.carries_offsets());
    let values = cells.concat();
    let mut offsets = vec![0];
    cells.iter().for_each(|cell| offsets.push(offsets[offsets.len() - 1] + cell.len() as u64));
    offsets.pop();
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    bound.encode_tile(&values, Some(&offsets), &mut out, &mut scratch).unwrap();
    let (mut values_back, mut offsets_back) = (vec![0xa5; values.len()], vec![99]);
    bound.decode_strings(&out, &mut values_back, &mut offsets_back, cells.len() as u64, &mut scratch).unwrap();
    assert_eq!((values_back, offsets_back), (values, offsets));
    common::chunks(&out).remove(0)
}

#[test]
fn string_rle() {
    let (metadata, data) = strings(RLE, &[b"aaa", b"bbb", b"ccc"]);
    assert_eq!(metadata, hex("00000000 01000000 09000000 0f000000 18000000 01 01"));
    assert_eq!(data, hex("01 03 616161 01 03 626262 01 03 636363"));
    // All strings empty: a run, even though the chunk has no bytes.
    assert_eq!(strings(RLE, &[b"", b"", b""]).1, [3, 0]);
    // The longest string comes last, where the reference library would store one byte per length.
    let long = [b'x'; 300];
    let (metadata, data) = strings(RLE, &[b"a", &long]);
    assert_eq!(metadata[20..], [1, 2]);
    assert_eq!(data[..7], [1, 0, 1, b'a', 1, 1, 0x2c]);
    // A run of 300.
    let (metadata, data) = strings(RLE, &[&b"ab"[..]; 300]);
    assert_eq!((&metadata[20..], data), (&[2, 1][..], vec![1, 0x2c, 2, b'a', b'b']));
}

#[test]
fn dictionary() {
    let (metadata, data) = strings(DICTIONARY, &[b"aaa", b"bbb", b"ccc"]);
    let expected = "00000000 01000000 09000000 03000000 18000000 01 01 0c000000 03616161 03626262 03636363";
    assert_eq!(metadata, hex(expected));
    assert_eq!(data, [0, 1, 2]);
    // The number of cells determines the width of the indices, regardless of the number of distinct
    // strings.
    let (metadata, data) = strings(DICTIONARY, &[&b"z"[..]; 300]);
    assert_eq!((&metadata[20..], data), (&[2, 1, 2, 0, 0, 0, 1, b'z'][..], vec![0; 600]));
    assert_eq!(strings(DICTIONARY, &[b"", b"x", b""]).1, [0, 1, 0]);
}

#[test]
fn offsets_must_match_the_values() {
    let bound = common::bind(&[RLE], TileKind::var_data(Datatype::StringAscii, V22));
    let refused = |offsets: Option<&[u64]>| {
        let mut out = vec![1];
        let error = bound.encode_tile(b"abc", offsets, &mut out, &mut Scratch::new()).unwrap_err();
        assert_eq!(out, [1]);
        error.to_string()
    };
    insta::assert_snapshot!(refused(None), @"rle: the offsets of the cells are missing");
    insta::assert_snapshot!(refused(Some(&[])), @"values without cells: expected 0 bytes, found 3");
    insta::assert_snapshot!(refused(Some(&[1, 2])), @"offset 0: found 1, expected offsets that start at 0, ascend and stay within the 3 bytes of the tile");
    insta::assert_snapshot!(refused(Some(&[0, 2, 1])), @"offset 2: found 1, expected offsets that start at 0, ascend and stay within the 3 bytes of the tile");
    insta::assert_snapshot!(refused(Some(&[0, 4])), @"offset 1: found 4, expected offsets that start at 0, ascend and stay within the 3 bytes of the tile");
}

#[test]
fn which_strings_carry_offsets() {
    let carries = |datatype, filter: &Filter, number| {
        common::bind(std::slice::from_ref(filter), TileKind::var_data(datatype, common::version(number)))
            .carries_offsets()
    };
    let first = |datatype, filter| (1..=23).find(|&number| carries(datatype, &filter, number));
    assert_eq!(first(Datatype::StringAscii, RLE), Some(12));
    assert_eq!(first(Datatype::StringAscii, DICTIONARY), Some(13));
    assert_eq!(first(Datatype::StringUtf8, RLE), Some(17));
    assert_eq!(first(Datatype::StringUtf8, DICTIONARY), Some(17));
    assert_eq!(first(Datatype::Char, RLE), None);
    assert_eq!(first(Datatype::StringUtf16, RLE), None);
    assert!(!common::bind(&[RLE], TileKind::fixed(Datatype::StringAscii, 5, V22)).carries_offsets());
    // Old fragments with embedded offsets exist nevertheless.
    let old = common::bind(&[RLE], TileKind::var_data(Datatype::StringUtf8, common::version(7)));
    assert!(old.can_carry_offsets());
}

#[test]
fn bit_width_reduction() {
    let filter = Filter::BitWidthReduction { max_window: 256 };
    let u32s = |tile: &[u8]| one_chunk(std::slice::from_ref(&filter), cells(Datatype::UInt32), tile);
    // The range plus one counts: 254 + 1 fits into 8 bits, 255 + 1 does not.
    let (metadata, data) = u32s(&le!(u32: 10, 264));
    assert_eq!(metadata, [le!(u32: 8, 1, 10), vec![8], le!(u32: 8)].concat());
    assert_eq!(data, [0, 254]);
    let (metadata, data) = u32s(&le!(u32: 10, 265));
    assert_eq!(metadata[12], 16);
    assert_eq!(data, le!(u16: 0, 255));
    // Signed values end at 126.
    let i32s = |tile: &[u8]| one_chunk(std::slice::from_ref(&filter), cells(Datatype::Int32), tile);
    assert_eq!(i32s(&le!(i32: -100, 26)).1, [0, 126]);
    assert_eq!(i32s(&le!(i32: -100, 27)).1, le!(i16: 0, 127));
    // A range that overflows is stored raw.
    let (metadata, data) = i32s(&le!(i32: i32::MIN, i32::MAX));
    assert_eq!(metadata, [le!(u32: 8, 1, 0), vec![32], le!(u32: 8)].concat());
    assert_eq!(data, le!(i32: i32::MIN, i32::MAX));
    // Windows consist of whole values: 10 bytes hold two values of 4.
    let narrow = Filter::BitWidthReduction { max_window: 10 };
    let (metadata, data) = one_chunk(&[narrow], cells(Datatype::UInt32), &le!(u32: 1, 2, 1000, 1001, 7));
    let window = |low: u32, bytes: u32| [le!(u32: low), vec![8], le!(u32: bytes)].concat();
    assert_eq!(metadata, [le!(u32: 20, 3), window(1, 8), window(1000, 8), window(7, 4)].concat());
    assert_eq!(data, [0, 1, 0, 1, 0]);
}

#[test]
fn positive_delta() {
    let filter = Filter::PositiveDelta { max_window: 8 };
    let tile = le!(u32: 3, 5, 4, 4);
    let (metadata, data) = one_chunk(std::slice::from_ref(&filter), cells(Datatype::UInt32), &tile);
    assert_eq!(metadata, le!(u32: 2, 3, 8, 4, 8));
    // The decrease from 5 to 4 is between two windows.
    assert_eq!(data, le!(u32: 0, 2, 0, 0));
    let error = encode(std::slice::from_ref(&filter), cells(Datatype::UInt32), &le!(u32: 1, 2, 3, 2)).unwrap_err();
    insta::assert_snapshot!(
        error,
        @"chunk 0: positive_delta: value 3 is less than the previous value; expected values in ascending order"
    );
    // Differences wrap.
    let tile = le!(i64: i64::MIN, i64::MAX);
    let wide = Filter::PositiveDelta { max_window: 1024 };
    assert_eq!(one_chunk(&[wide], cells(Datatype::Int64), &tile).1, le!(i64: 0, -1));
}

#[test]
fn filters_that_do_nothing() {
    let reduce = Filter::BitWidthReduction { max_window: 256 };
    let positive = Filter::PositiveDelta { max_window: 1024 };
    let verbatim = |filter: &Filter, datatype, number| {
        common::bind(std::slice::from_ref(filter), TileKind::fixed(datatype, 1, common::version(number))).is_verbatim()
    };
    for datatype in [Datatype::Float32, Datatype::StringAscii, Datatype::Char, Datatype::Any] {
        assert!(verbatim(&reduce, datatype, 22) && verbatim(&positive, datatype, 22), "{datatype}");
    }
    for datatype in [Datatype::UInt8, Datatype::Bool, Datatype::Blob] {
        assert!(verbatim(&reduce, datatype, 22) && !verbatim(&positive, datatype, 22), "{datatype}");
    }
    // Dates and times are processed since version 20.
    for filter in [&reduce, &positive] {
        assert!(verbatim(filter, Datatype::DatetimeDay, 19) && !verbatim(filter, Datatype::DatetimeDay, 20));
        assert!(verbatim(filter, Datatype::TimeNs, 19) && !verbatim(filter, Datatype::TimeNs, 20));
    }
}

#[test]
fn byteshuffle() {
    let (metadata, data) = one_chunk(&[Filter::Byteshuffle], cells(Datatype::UInt16), &[1, 2, 3, 4, 5, 6]);
    assert_eq!(metadata, le!(u32: 1, 6));
    assert_eq!(data, [1, 3, 5, 2, 4, 6]);
}

#[test]
fn bitshuffle() {
    // Uneven parts are split, however short.
    let lengths = |len: usize| one_chunk(&[Filter::Bitshuffle], cells(Datatype::UInt8), &vec![1; len]).0;
    assert_eq!(lengths(1), le!(u32: 2, 0, 1));
    assert_eq!(lengths(8), le!(u32: 1, 8));
    assert_eq!(lengths(13), le!(u32: 2, 8, 5));
    let data = |tile: &[u8]| one_chunk(&[Filter::Bitshuffle], cells(Datatype::UInt8), tile).1;
    assert_eq!(data(&[1; 8]), [255, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(data(&[0x80, 0, 0, 0, 0, 0, 0, 0, 9]), [0, 0, 0, 0, 0, 0, 0, 1, 9]);
}

#[test]
fn xor() {
    let (metadata, data) = one_chunk(&[Filter::Xor], cells(Datatype::Float32), &le!(u32: 5, 7, 7, 0xff00_0000));
    assert_eq!(metadata, le!(u32: 1, 16));
    assert_eq!(data, le!(u32: 5, 2, 0, 0xff00_0007));
}

#[test]
fn checksums() {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e";
    let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    for (filter, digest) in [(Filter::Md5, md5), (Filter::Sha256, sha256)] {
        let tile = encode_empty(&[filter], Datatype::Int32);
        assert_eq!(tile, (hex(&format!("00000000 01000000 0000000000000000 {digest}")), vec![]));
    }
    // The digest of "abc", with the metadata of an earlier filter.
    let (metadata, data) = one_chunk(&[Filter::Byteshuffle, Filter::Md5], cells(Datatype::UInt8), b"abc");
    let shuffle = le!(u32: 1, 3);
    assert_eq!(data, b"abc");
    assert_eq!(metadata[..16], [le!(u32: 1, 1), le!(u64: 8)].concat());
    assert_eq!(metadata[32..40], le!(u64: 3));
    assert_eq!(metadata[40..56], hex("900150983cd24fb0d6963f7d28e17f72"));
    assert_eq!(metadata[56..], shuffle);
}

/// Test cases 13 and 14 of McGrew and Viega, "The Galois/Counter Mode of Operation".
#[test]
fn aes_256_gcm() {
    let pipeline = FilterPipeline::default().encrypted();
    let key = EncryptionKey::new([0; 32]);
    let kind = TileKind::var_data(Datatype::UInt8, V22);
    let bound = BoundPipeline::bind_with_key(&pipeline, kind, Some(&key)).unwrap();
    for (tile, encrypted, tag) in [
        (&[][..], "", "530f8afbc74536b9a963b4f1c4cb738b"),
        (&[0; 16][..], "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"),
    ] {
        let tile: &[u8] = tile;
        let (mut filtered, mut scratch) = (Vec::new(), Scratch::new().with_ivs(|| [0; 12]));
        // One cell, possibly empty. The empty chunk is encrypted like any other.
        bound.encode_tile(tile, Some(&[0]), &mut filtered, &mut scratch).unwrap();
        let len = u32::try_from(tile.len()).unwrap();
        let metadata = [le!(u32: 0, 1, len, len), vec![0; 12], hex(tag)].concat();
        assert_eq!(filtered, tile_of(tile.len(), &metadata, &hex(encrypted)));
        let mut back = vec![1; tile.len()];
        bound.decode_tile(&filtered, &mut back, &mut scratch).unwrap();
        assert_eq!(back, tile);
    }
}

/// Metadata of earlier filters are encrypted as separate parts with separate IVs.
#[test]
fn metadata_are_encrypted_before_the_data() {
    let pipeline = FilterPipeline::new(vec![Filter::Byteshuffle, Filter::Md5]).encrypted();
    let key = EncryptionKey::new([9; 32]);
    let bound = BoundPipeline::bind_with_key(&pipeline, cells(Datatype::UInt16), Some(&key)).unwrap();
    let mut filtered = Vec::new();
    bound.encode_tile(&le!(u16: 1, 2, 3), None, &mut filtered, &mut common::scratch_with_ivs()).unwrap();
    let (metadata, data) = chunks(&filtered).remove(0);
    // The parts of the digests, the shuffle, and the data.
    let lengths = [8 + 2 * (8 + 16), 8, 6];
    assert_eq!(metadata[..8], le!(u32: 2, 1));
    for (part, (header, len)) in metadata[8..].chunks(36).zip(lengths).enumerate() {
        assert_eq!(header[..8], le!(u32: len, len));
        assert_eq!(header[8..20], [&(part as u64 + 1).to_le_bytes()[..], &[0; 4]].concat());
    }
    assert_eq!((metadata.len(), data.len() as u32), (8 + 3 * 36, lengths.iter().sum()));
    let mut back = [0; 6];
    bound.decode_tile(&filtered, &mut back, &mut Scratch::new()).unwrap();
    assert_eq!(back[..], le!(u16: 1, 2, 3));
}

/// Encodes an empty chunk of variable-size cells that are all empty.
fn encode_empty(filters: &[Filter], datatype: Datatype) -> (Vec<u8>, Vec<u8>) {
    let bound = common::bind(filters, TileKind::var_data(datatype, V22));
    let (mut scratch, mut out) = (Scratch::new(), Vec::new());
    bound.encode_tile(&[], Some(&[0, 0]), &mut out, &mut scratch).unwrap();
    bound.decode_tile(&out, &mut [], &mut scratch).unwrap();
    common::chunks(&out).remove(0)
}

#[test]
fn empty_chunks() {
    let lengths = |filters: &[Filter]| {
        let (metadata, data) = encode_empty(filters, Datatype::Int32);
        (metadata.len(), data.len())
    };
    assert_eq!(lengths(&[]), (0, 0));
    assert_eq!(lengths(&[Filter::None]), (0, 0));
    assert_eq!(lengths(&[GZIP]), (16, 8));
    assert_eq!(lengths(&[Filter::Zstd { level: -1 }]), (16, 9));
    assert_eq!(lengths(&[Filter::Lz4 { level: -1 }]), (16, 1));
    assert_eq!(lengths(&[Filter::Bzip2 { level: -1 }]), (16, 14));
    assert_eq!(lengths(&[RLE]), (16, 0));
    assert_eq!(lengths(&[Filter::Md5]), (32, 0));
    assert_eq!(lengths(&[Filter::Sha256]), (48, 0));
    for filter in [Filter::Byteshuffle, Filter::Bitshuffle, Filter::Xor] {
        assert_eq!(encode_empty(&[filter], Datatype::Int32), (le!(u32: 1, 0), vec![]));
    }
    // After a checksum, an empty chunk is no longer a part.
    let (metadata, data) = encode_empty(&[Filter::Md5, GZIP], Datatype::Int32);
    assert_eq!((&metadata[..8], metadata.len(), data.len()), (&le!(u32: 1, 0)[..], 16, 32));
}

#[test]
fn empty_chunks_unreadable_by_the_reference_library() {
    // The reference library cannot read its own empty double delta, and crashes in bit-width
    // reduction and positive delta.
    assert_eq!(encode_empty(&[DOUBLE_DELTA], Datatype::Int32).1, [&[31][..], &[0; 8]].concat());
    assert_eq!(encode_empty(&[Filter::BitWidthReduction { max_window: 256 }], Datatype::Int32), (vec![0; 8], vec![]));
    assert_eq!(encode_empty(&[Filter::PositiveDelta { max_window: 256 }], Datatype::Int32), (vec![0; 4], vec![]));
    // The reference library cannot read any empty delta chunk, so no chunk is written.
    let bound = common::bind(&[DELTA], TileKind::var_data(Datatype::Int32, V22));
    let mut out = Vec::new();
    bound.encode_tile(&[], Some(&[0, 0]), &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(out, [0; 8]);
    // Its own output is readable: a count of 0, followed by garbage.
    let tile = tile_of(0, &frame(0, 17), &[&[0; 9][..], &[0xee; 8]].concat());
    assert_eq!(decode(&[DOUBLE_DELTA], cells(Datatype::Int32), &tile, 0).unwrap(), [0u8; 0]);
    let tile = tile_of(0, &frame(0, 12), &[&[0; 8][..], &[0xee; 4]].concat());
    assert_eq!(decode(&[DELTA], cells(Datatype::Int32), &tile, 0).unwrap(), [0u8; 0]);
}

#[test]
fn metadata_parts_are_compressed_latest_first() {
    let filters = [Filter::Byteshuffle, Filter::Bitshuffle, Filter::Md5, RLE];
    let (metadata, data) = one_chunk(&filters, cells(Datatype::UInt8), &[0; 13]);
    // The parts of md5 (digests of two shuffles and the data, 24 bytes each), bitshuffle,
    // byteshuffle, and the data.
    let lengths: Vec<u32> = metadata.chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(lengths[..2], [3, 1]);
    assert_eq!([lengths[2], lengths[4], lengths[6], lengths[8]], [8 + 3 * 24, 12, 8, 13]);
    assert_eq!(data[data.len() - 3..], [0, 0, 13]);
}

#[test]
fn any_number_of_parts_is_read() {
    let kind = cells(Datatype::UInt8);
    let two = tile_of(3, &le!(u32: 0, 2, 2, 3, 1, 3), &[7, 0, 2, 8, 0, 1]);
    assert_eq!(decode(&[RLE], kind, &two, 3).unwrap(), [7, 7, 8]);
    let none = tile_of(0, &le!(u32: 0, 0), &[]);
    assert_eq!(decode(&[RLE], kind, &none, 0).unwrap(), [0u8; 0]);
    let shuffled = tile_of(6, &le!(u32: 2, 4, 2), &[1, 3, 2, 4, 5, 6]);
    assert_eq!(decode(&[Filter::Byteshuffle], cells(Datatype::UInt16), &shuffled, 6).unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn windows_with_a_partial_value_are_raw() {
    // 8 bits are stated, but 5 bytes are not a multiple of 4-byte values, so all 5 are stored.
    let metadata = [le!(u32: 5, 1, 77), vec![8], le!(u32: 5), le!(u32: 0, 1, 7, 5)].concat();
    let tile = tile_of(7, &metadata, &[1, 0, 3, 2, 0]);
    let error = decode(&[RLE, Filter::BitWidthReduction { max_window: 8 }], cells(Datatype::Int32), &tile, 7);
    // The window itself is accepted. Its content is checked next.
    insta::assert_snapshot!(error.unwrap_err(), @"chunk 0: rle: the last run is truncated");
    // After zlib, with output of any length.
    let filters = [GZIP, Filter::BitWidthReduction { max_window: 8 }, Filter::Md5];
    for len in 1..40 {
        let tile: Vec<u8> = (0..len * 4).map(|byte| (byte * byte) as u8).collect();
        one_chunk(&filters, cells(Datatype::Int32), &tile);
    }
}

#[test]
fn types_flow_from_filter_to_filter() {
    use tdb_filters::ElementTypes;
    let filters = [Filter::FloatScale { scale: 1.0, offset: 0.0, byte_width: 4 }, Filter::Byteshuffle];
    let tile = le!(f64: 1.0, 2.0, 3.0);
    let stage = cells(Datatype::Float64);
    // Shuffled as the 4-byte integers produced by float scale.
    let (metadata, data) = one_chunk(&filters, stage, &tile);
    assert_eq!(metadata, le!(u32: 1, 12, 1, 12));
    assert_eq!(data, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Releases up to 2.16 shuffled as the tile's 8-byte floats: one whole value, and 4 remaining
    // bytes.
    let (_, data) = one_chunk(&filters, stage.with_element_types(ElementTypes::Tile), &tile);
    assert_eq!(data, le!(u32: 1, 2, 3));
    let (old, new) = (common::version(15), common::version(22));
    assert_eq!(ElementTypes::of_fragment(old, Some(old)), ElementTypes::Tile);
    assert_eq!(ElementTypes::of_fragment(old, Some(new)), ElementTypes::Stage);
    assert_eq!(ElementTypes::of_fragment(new, None), ElementTypes::Stage);
}

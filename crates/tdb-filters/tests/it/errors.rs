//! Error messages, and memory bounds for hostile bytes.

use crate::common;

use crate::common::{V22, cells, decode, encode, le, tile_of};
use tdb_filters::{
    BoundPipeline, EncryptionKey, Filter, FilterError, FilterPipeline, KeyProblem, Scratch, TileKind, TileRole,
};
use tdb_types::{Datatype, Limits};

const RLE: Filter = Filter::Rle { level: -1 };
const ZSTD: Filter = Filter::Zstd { level: 3 };
const DELTA: Filter = Filter::Delta { level: -1, reinterpret: None };
const DOUBLE_DELTA: Filter = Filter::DoubleDelta { level: -1, reinterpret: None };

fn bind_error(filter: Filter, kind: TileKind) -> String {
    BoundPipeline::bind(&FilterPipeline::new(vec![filter]), kind).unwrap_err().to_string()
}

#[test]
fn unavailable_filters_bind_and_fail_later() {
    let filters = [
        Filter::Unknown { code: 17, options: vec![] },
        Filter::Unknown { code: 99, options: vec![1, 2] },
        Filter::Aes256Gcm,
        Filter::Dictionary { level: -1 },
    ];
    let mut text = String::new();
    for filter in filters {
        let kind = cells(Datatype::UInt8);
        let decoded = decode(std::slice::from_ref(&filter), kind, &tile_of(1, &[], &[1]), 1).unwrap_err();
        let encoded = encode(std::slice::from_ref(&filter), kind, &[1]).unwrap_err();
        assert_eq!(decoded, encoded);
        text += &format!("{filter}: {decoded}\n");
    }
    insta::assert_snapshot!(text, @r"
    unknown(code 17): chunk 0: unknown filter code 17; try a newer release of this library
    unknown(code 99, options 0102): chunk 0: unknown filter code 99; try a newer release of this library
    aes_256_gcm: chunk 0: the tile is encrypted; pass the array's key
    dictionary: chunk 0: dictionary does not support uint8; use it as the first filter of variable-size string_ascii from format version 13, or string_utf8 from format version 17
    ");
    let pipeline = FilterPipeline::new(vec![Filter::Aes256Gcm]);
    let key = EncryptionKey::new([7; 32]);
    let bound = BoundPipeline::bind_with_key(&pipeline, cells(Datatype::UInt8), Some(&key)).unwrap();
    let error = bound.encode_tile(&[1], None, &mut Vec::new(), &mut Scratch::new()).unwrap_err();
    insta::assert_snapshot!(error, @"chunk 0: encryption needs initialization vectors; pass a source of vectors to the scratch memory");
}

#[test]
fn keys() {
    let key = EncryptionKey::new([7; 32]);
    let bound = |key: Option<&EncryptionKey>| {
        let pipeline = FilterPipeline::new(vec![Filter::Byteshuffle]).encrypted();
        BoundPipeline::bind_with_key(&pipeline, cells(Datatype::UInt16), key).unwrap()
    };
    let (tile, mut filtered) = ([1, 2, 3, 4, 5, 6], Vec::new());
    bound(Some(&key)).encode_tile(&tile, None, &mut filtered, &mut common::scratch_with_ivs()).unwrap();
    let decode = |key: Option<&EncryptionKey>, filtered: &[u8]| {
        let mut out = [0; 6];
        bound(key).decode_tile(filtered, &mut out, &mut Scratch::new()).map(|()| out)
    };
    assert_eq!(decode(Some(&key), &filtered).unwrap(), tile);
    let missing = decode(None, &filtered).unwrap_err();
    assert_eq!((missing.key_problem(), missing.is_unsupported()), (Some(KeyProblem::Missing), false));
    insta::assert_snapshot!(missing, @"chunk 0: the tile is encrypted; pass the array's key");
    let wrong = decode(Some(&EncryptionKey::new([8; 32])), &filtered).unwrap_err();
    assert_eq!((wrong.key_problem(), wrong.is_unsupported()), (Some(KeyProblem::Wrong), false));
    insta::assert_snapshot!(wrong, @"chunk 0: aes_256_gcm: authentication failed: the key is wrong, or the bytes are damaged or modified");
    // Changing any bit of IV, tag, encrypted metadata or data is detected, as is a changed length.
    for bit in 20 * 8..filtered.len() * 8 {
        let mut damaged = filtered.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(Some(&key), &damaged).is_err(), "bit {bit}");
    }
    insta::assert_snapshot!(
        [KeyProblem::Missing, KeyProblem::Wrong, KeyProblem::NotNeeded].map(|problem| problem.to_string()).join("\n"),
        @r"
    encrypted, but no key was given; pass the key that the array was written with
    cannot decrypt with the given key; pass the key that the array was written with (if the key is correct, the file is damaged or modified)
    not encrypted, but a key was given; do not pass a key
    ");
    // Debug output hides the key.
    assert_eq!(format!("{key:?}"), "EncryptionKey(…)");
    let printed = format!("{:?}", bound(Some(&key)));
    assert!(printed.contains("Cipher(…)") && !printed.contains("7, 7"), "{printed}");
}

#[test]
fn unsuitable_filters_do_not_bind() {
    insta::assert_snapshot!(bind_error(DOUBLE_DELTA, cells(Datatype::Float32)), @"double_delta does not support float32; use it on integers");
    insta::assert_snapshot!(bind_error(DELTA, cells(Datatype::Float64)), @"delta does not support float64; use it on integers");
    let sized = |cell_size| TileKind::new(Datatype::Int32, cell_size, TileRole::Fixed, V22);
    let kind = sized(6);
    insta::assert_snapshot!(bind_error(RLE, kind), @"cell size: found 6, expected a multiple of the datatype's size");
    let kind = sized(0);
    insta::assert_snapshot!(bind_error(RLE, kind), @"cell size: found 0, expected a multiple of the datatype's size");
    let kind = TileKind::new(Datatype::Int32, 4, TileRole::Coordinates { dimensions: 3 }, V22);
    insta::assert_snapshot!(bind_error(RLE, kind), @"cell size: found 4, expected one value per dimension");
}

#[test]
fn unreadable_tiles_are_not_written() {
    let refused =
        |filters: &[Filter], tile: &[u8]| encode(filters, cells(Datatype::Int32), tile).unwrap_err().to_string();
    let tile = le!(i32: 1, 2, 3);
    insta::assert_snapshot!(refused(&[RLE], &tile[..7]), @"length of the tile: found 7, expected a multiple of the cell size");
    insta::assert_snapshot!(refused(&[Filter::BitWidthReduction { max_window: 64 }, DELTA], &tile), @"chunk 0: delta: 17 bytes are not a multiple of the value size of 4 bytes; move the filter before filters that change lengths");
    insta::assert_snapshot!(refused(&[RLE, Filter::Xor], &tile), @"chunk 0: xor: 18 bytes are not a multiple of the value size of 4 bytes; move the filter before filters that change lengths");
    insta::assert_snapshot!(refused(&[Filter::BitWidthReduction { max_window: 64 }, RLE], &tile), @"chunk 0: rle: 17 bytes are not a multiple of the value size of 4 bytes; move the filter before filters that change lengths");
    insta::assert_snapshot!(refused(&[Filter::PositiveDelta { max_window: 3 }], &tile), @"chunk 0: positive_delta: maximum window: found 3 bytes, expected at least the size of one value");
    insta::assert_snapshot!(refused(&[Filter::PositiveDelta { max_window: 64 }], &le!(i32: 1, 0)), @"chunk 0: positive_delta: value 1 is less than the previous value; expected values in ascending order");
    insta::assert_snapshot!(refused(&[Filter::Gzip { level: 10 }], &tile), @"chunk 0: gzip: level: found 10, expected at most 9");
    insta::assert_snapshot!(refused(&[Filter::Bzip2 { level: 10 }], &tile), @"chunk 0: bzip2: level: found 10, expected at most 9");
}

#[test]
fn float_scale_rejects_values_out_of_range() {
    let encoded = |scale: f64, offset: f64, byte_width: u64, values: &[f32]| {
        let filters = FilterPipeline::new(vec![Filter::FloatScale { scale, offset, byte_width }]);
        let bound = BoundPipeline::bind(&filters, cells(Datatype::Float32)).unwrap();
        let tile: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut out = b"before".to_vec();
        let result = bound.encode_tile(&tile, None, &mut out, &mut Scratch::new()).map_err(|error| error.to_string());
        assert!(result.is_ok() || out == b"before");
        result
    };
    insta::assert_snapshot!(encoded(1.0, 0.0, 1, &[1.0, 300.0]).unwrap_err(), @"chunk 0: float_scale: value 1: found 300.0, expected -128.0 to 127.0 (scale 1, offset 0, byte width 1)");
    insta::assert_snapshot!(encoded(-0.5, 10.0, 2, &[f32::NAN]).unwrap_err(), @"chunk 0: float_scale: value 0: found NaN, expected -16373.5 to 16394.0 (scale -0.5, offset 10, byte width 2)");
    for (width, most) in [(1, 127.0), (2, 32767.0), (4, 2_147_483_500.0), (8, 9.2e18)] {
        assert_eq!(encoded(1.0, 0.0, width, &[most, -most, 0.3, -0.0]), Ok(()));
        for lost in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1.1 * most, -1.1 * most] {
            assert!(encoded(1.0, 0.0, width, &[0.0, lost]).is_err(), "{lost} in {width} bytes");
        }
    }
    // Rounding is expected of the filter.
    assert_eq!(encoded(1.0, 0.0, 1, &[127.49, -128.49]), Ok(()));
    assert!(encoded(1.0, 0.0, 1, &[127.5]).is_err() && encoded(1.0, 0.0, 1, &[-128.5]).is_err());
    // The smallest integers, which the reference library writes for all values out of range.
    assert_eq!(encoded(1.0, 0.0, 8, &[i64::MIN as f32]).and(encoded(1.0, 0.0, 4, &[i32::MIN as f32])), Ok(()));
}

#[test]
fn errors_locate_the_damage() {
    let kind = cells(Datatype::UInt8);
    let text = |filters: &[Filter], tile: &[u8], len| decode(filters, kind, tile, len).unwrap_err().to_string();
    let frame = |original: u32, compressed: u32| le!(u32: 0, 1, original, compressed);
    insta::assert_snapshot!(text(&[], &tile_of(3, &[], &[1, 2, 3]), 4), @"unfiltered tile: expected 4 bytes, found 3");
    insta::assert_snapshot!(text(&[], &tile_of(3, &[], &[1, 2, 3]), 2), @"unfiltered tile: expected 2 bytes, found 3");
    insta::assert_snapshot!(text(&[], &tile_of(3, &[], &[1, 2]), 3), @"chunk 0: unfiltered chunk: expected 3 bytes, found 2");
    insta::assert_snapshot!(text(&[], &tile_of(3, &[9], &[1, 2, 3]), 3), @"chunk 0: metadata of the chunk: found 1 unexpected bytes at 0x14");
    insta::assert_snapshot!(text(&[ZSTD], &tile_of(3, &frame(3, 2), &[1, 2]), 3), @"chunk 0: zstd: not a zstd frame of the stated length");
    insta::assert_snapshot!(text(&[ZSTD], &tile_of(3, &frame(4, 2), &[1, 2]), 3), @"chunk 0: unfiltered chunk: expected 3 bytes, found 4");
    insta::assert_snapshot!(text(&[ZSTD], &tile_of(3, &frame(3, 3), &[1, 2]), 3), @"chunk 0: compressor: the parts are longer than the data");
    insta::assert_snapshot!(text(&[ZSTD], &tile_of(3, &frame(3, 2)[..14], &[1, 2]), 3), @"chunk 0: compressed parts: expected 8 bytes at 0x1c, found 6");
    insta::assert_snapshot!(text(&[RLE], &tile_of(3, &frame(3, 6), &[1, 0, 2, 2, 0, 2]), 3), @"chunk 0: rle: the runs continue after the data");
    let mut digest = encode(&[Filter::Md5], kind, b"abc").unwrap();
    *digest.last_mut().unwrap() ^= 1;
    insta::assert_snapshot!(text(&[Filter::Md5], &digest, 3), @"chunk 0: md5: the digest of data differs from the stored digest; the tile is damaged");
    // Verification can be disabled.
    let mut out = [0; 3];
    let bound = common::bind(&[Filter::Md5], kind).verifying_checksums(false);
    bound.decode_tile(&digest, &mut out, &mut Scratch::new()).unwrap();
    assert_eq!(out, *b"abb");
}

#[test]
fn data_between_filters_is_bounded() {
    // Zstd data of allegedly 4 GiB before byteshuffle, for a tile of 100 bytes: rejected before
    // allocation.
    let filters = [Filter::Byteshuffle, ZSTD];
    let metadata = le!(u32: 1, 1, u32::MAX, 5, u32::MAX, 5);
    let tile = tile_of(100, &metadata, &[0; 10]);
    let mut error = None;
    let peak = tdb_testkit::allocations::peak_while(|| {
        error = decode(&filters, cells(Datatype::UInt8), &tile, 100).err();
    });
    insta::assert_snapshot!(error.unwrap(), @"chunk 0: 4294967295 bytes between two filters exceed the maximum of 65536 for a chunk of this size; the tile is damaged, or the limit on tiles is too low");
    assert!(peak < 100_000, "{peak} bytes");
    // A tile above the limit.
    let bound = common::bind(&[], cells(Datatype::UInt8));
    let mut scratch = Scratch::with_limits(Limits::SMALL.with_tile_bytes(10));
    let error = bound.decode_tile(&[0; 8], &mut [0; 11], &mut scratch).unwrap_err();
    insta::assert_snapshot!(error, @"the tile: 11 bytes exceed the limit of 10; raise the limit if the file is trusted");
    // More strings than the limit allows.
    let strings = common::bind(&[RLE], TileKind::var_data(Datatype::StringAscii, V22));
    let error = strings.decode_strings(&[0; 8], &mut [], &mut Vec::new(), u64::MAX, &mut scratch).unwrap_err();
    assert!(matches!(error, FilterError::LimitExceeded { .. }), "{error}");
}

#[test]
fn keys_have_32_bytes() {
    for len in [0, 16, 31, 33, 64] {
        let error = EncryptionKey::try_from(&vec![7; len][..]).unwrap_err();
        assert_eq!(error, FilterError::KeyLength { found: len });
        assert_eq!(error.key_problem(), Some(KeyProblem::Length));
    }
    assert_eq!(EncryptionKey::try_from(&[7; 32][..]).unwrap(), EncryptionKey::new([7; 32]));
}

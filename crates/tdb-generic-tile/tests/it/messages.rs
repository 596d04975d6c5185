//! Error messages, and bounds on memory for hostile sizes.

#![cfg(feature = "all-codecs")]

use tdb_filters::{EncryptionKey, Filter, FilterPipeline};
use tdb_generic_tile::{GenericTile, GenericTileDecoder, GenericTileEncoder, GenericTileError};
use tdb_testkit::allocations::peak_while;
use tdb_types::{ByteReader, ByteWriter, FormatVersion, Limits};

fn good(pipeline: FilterPipeline) -> Vec<u8> {
    let mut writer = ByteWriter::new();
    let mut encoder = GenericTileEncoder::new(FormatVersion::DEFAULT).with_pipeline(pipeline);
    encoder.encode(b"some payload, some payload", &mut writer).unwrap();
    writer.into_bytes()
}

/// Returns the error of a valid tile at 0x200 after `damage`.
fn refused(damage: impl FnOnce(&mut Vec<u8>)) -> GenericTileError {
    refused_in(FilterPipeline::generic_tile(), damage)
}

fn refused_in(pipeline: FilterPipeline, damage: impl FnOnce(&mut Vec<u8>)) -> GenericTileError {
    let mut bytes = good(pipeline);
    damage(&mut bytes);
    GenericTile::parse(&mut ByteReader::at(&bytes, 0x200), &Limits::SMALL).unwrap_err()
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Marks the tile as encrypted, and changes its only filter to the encryption filter.
fn encrypt(bytes: &mut [u8]) {
    bytes[29] = 1;
    bytes[42] = 11;
}

#[test]
fn messages() {
    let no_filters = || FilterPipeline::new(Vec::new());
    let key = EncryptionKey::new([7; 32]);
    let bytes = good(FilterPipeline::generic_tile());
    let mut with_key = GenericTileDecoder::new(Limits::default()).with_key(key);
    let payload = GenericTile::parse(&mut ByteReader::at(&bytes, 0x200), &Limits::default()).unwrap();
    let errors = [
        ("nothing", refused(Vec::clear)),
        ("cut short", refused(|bytes| bytes.truncate(60))),
        ("version 24", refused(|bytes| bytes[0] = 24)),
        ("persisted size", refused(|bytes| put(bytes, 4, u64::MAX))),
        ("one byte less", refused(|bytes| bytes[4] -= 1)),
        ("tile size above the limit", refused(|bytes| put(bytes, 12, 5 << 20))),
        ("tile size", refused(|bytes| put(bytes, 12, 27))),
        ("datatype", refused(|bytes| bytes[20] = 44)),
        ("cell size 0", refused_in(FilterPipeline::new(vec![Filter::Rle { level: 1 }]), |bytes| put(bytes, 21, 0))),
        ("encryption code", refused(|bytes| bytes[29] = 2)),
        ("encrypted without an encrypting filter", refused(|bytes| bytes[29] = 1)),
        ("pipeline size", refused(|bytes| bytes[30] = 19)),
        ("pipeline beyond the end", refused(|bytes| put(bytes, 30, 0xffff_ffff))),
        ("too many filters", refused_in(FilterPipeline::new(vec![Filter::None; 33]), |_| {})),
        ("unknown filter", refused_in(FilterPipeline::new(vec![Filter::None]), |bytes| bytes[42] = 200)),
        ("zlib stream", refused(|bytes| bytes[90] ^= 0x55)),
        ("chunk sizes", refused_in(no_filters(), |bytes| bytes[50] += 1)),
        (
            "bytes after the tile",
            GenericTile::parse_file(&[bytes.clone(), vec![0; 3]].concat(), &Limits::default(), None).unwrap_err(),
        ),
        ("encrypted", refused_in(FilterPipeline::new(vec![Filter::None]), |bytes| encrypt(bytes))),
        ("not encrypted", with_key.decode(&mut ByteReader::new(&bytes)).unwrap_err()),
        ("payload", payload.parse_payload(None, |reader| reader.bytes("field", 27).map(drop)).unwrap_err().into()),
        ("payload not read to its end", payload.parse_payload(None, |reader| reader.u32("field")).unwrap_err().into()),
        ("payload cannot be filtered", {
            let pipeline = FilterPipeline::new(vec![Filter::Unknown { code: 77, options: vec![] }]);
            GenericTileEncoder::new(FormatVersion::DEFAULT)
                .with_pipeline(pipeline)
                .encode(b"payload", &mut ByteWriter::new())
                .unwrap_err()
        }),
    ];
    let text: Vec<_> = errors.iter().map(|(what, error)| format!("{what:<40}{error}")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn hostile_sizes_reserve_nothing() {
    let limits = Limits::default();
    let peak = |bytes: &[u8]| {
        // Warms up the decoder, because the memory of the codec does not depend on the bytes.
        let mut decoder = GenericTileDecoder::new(limits);
        decoder.decode_file(&good(FilterPipeline::generic_tile()), None).unwrap();
        peak_while(|| {
            decoder.decode_file(bytes, None).unwrap_err();
        })
    };
    for pipeline in [FilterPipeline::generic_tile(), FilterPipeline::new(Vec::new())] {
        for size in [1 << 20, limits.generic_tile_bytes, limits.generic_tile_bytes + 1, u64::MAX] {
            let mut bytes = good(pipeline.clone());
            put(&mut bytes, 12, size);
            assert!(peak(&bytes) < 64 << 10, "{size}");
            let mut bytes = good(pipeline.clone());
            put(&mut bytes, 4, size);
            assert!(peak(&bytes) < 64 << 10, "{size}");
        }
    }
}

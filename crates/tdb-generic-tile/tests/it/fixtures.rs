//! All generic tiles in arrays written by the reference library.

#![cfg(feature = "all-codecs")]

use std::fmt::Write as _;
use std::io::Read;

use flate2::read::ZlibDecoder;
use tdb_filters::{EncryptionKey, KeyProblem};
use tdb_generic_tile::{GenericTile, GenericTileDecoder, GenericTileEncoder, GenericTileError};
use tdb_testkit::fixtures;
use tdb_types::{ByteReader, ByteWriter, Datatype, Encryption, Limits, Spans};

/// Unfilters a tile with a zlib pipeline, without code of this workspace.
fn inflate(stored: &[u8]) -> Vec<u8> {
    let u32_at = |at: usize| u32::from_le_bytes(stored[at..at + 4].try_into().unwrap()) as usize;
    let filtered = 34 + u32_at(30);
    let chunks = u32_at(filtered);
    let (mut at, mut payload) = (filtered + 8, Vec::new());
    for _ in 0..chunks {
        let (original, filtered, metadata) = (u32_at(at), u32_at(at + 4), u32_at(at + 8));
        let data = at + 12 + metadata;
        let before = payload.len();
        ZlibDecoder::new(&stored[data..data + filtered]).read_to_end(&mut payload).unwrap();
        assert_eq!(payload.len() - before, original);
        at = data + filtered;
    }
    assert_eq!(at, stored.len());
    payload
}

/// Returns the names and contents of all files that are a single generic tile.
fn whole_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for fixture in fixtures::all() {
        for path in fixture.array_files() {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder.rsplit('/').next().unwrap_or(folder));
            let whole = matches!(folder, "__schema" | "__enumerations" | "__meta" | "__fragment_meta" | "__group");
            if (whole && !path.ends_with(".vac")) || path.ends_with(".del") || path.ends_with("__array_schema.tdb") {
                files.push((format!("{}/{path}", fixture.name()), fixture.read(path)));
            }
        }
    }
    files
}

#[test]
fn files_of_one_tile() {
    let files = whole_files();
    let has = |part: &str| files.iter().any(|(name, _)| name.contains(part));
    assert!(files.len() > 90 && has("/__schema/") && has("/__enumerations/") && has("/__meta/") && has(".del"));
    let mut decoder = GenericTileDecoder::new(Limits::default());
    for (name, bytes) in files.into_iter().filter(|(name, _)| !is_encrypted(name)) {
        let tile = decoder.decode_file(&bytes, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((tile.offset, tile.stored_len()), (0, bytes.len() as u64), "{name}");
        assert_eq!(tile.payload, inflate(&bytes), "{name}");
        assert_eq!(tile.header.pipeline.to_string(), "gzip(1)", "{name}");
        let header = (tile.header.datatype, tile.header.cell_size, tile.header.encryption);
        assert_eq!(header, (Datatype::Char, 1, Encryption::None), "{name}");
        check_encoding(&tile, &bytes);
    }
}

/// Checks that encoding the payload gives the same header except for the size, the same chunks, and
/// data that another zlib reads.
fn check_encoding(tile: &GenericTile, bytes: &[u8]) {
    let mut writer = ByteWriter::new();
    GenericTileEncoder::new(tile.header.version).encode(&tile.payload, &mut writer).unwrap();
    let ours = writer.into_bytes();
    assert_eq!((&ours[..4], &ours[12..60]), (&bytes[..4], &bytes[12..60]));
    assert_eq!(inflate(&ours), tile.payload);
}

#[test]
fn fragment_metadata_is_a_sequence_of_tiles() {
    let mut files = 0;
    for fixture in fixtures::all().into_iter().filter(|fixture| !is_encrypted(fixture.name())) {
        for path in fixture.array_files().filter(|path| path.ends_with("__fragment_metadata.tdb")) {
            let bytes = fixture.read(path);
            let mut reader = ByteReader::new(&bytes);
            let mut decoder = GenericTileDecoder::new(Limits::default());
            let mut count = 0;
            // The footer follows the tiles and does not parse as a tile.
            loop {
                let before = usize::try_from(reader.offset()).unwrap();
                let Ok(tile) = decoder.decode(&mut reader) else { break };
                assert_eq!(tile.offset, before as u64);
                assert_eq!(tile.offset + tile.stored_len(), reader.offset());
                let stored = &bytes[before..usize::try_from(reader.offset()).unwrap()];
                assert_eq!(tile.payload, inflate(stored), "{path} tile {count}");
                count += 1;
            }
            // At least the R-tree, and a section per kind and field: an attribute, `__coords`, a
            // dimension.
            assert!(count > 3 * 3, "{}/{path}: {count}", fixture.name());
            files += 1;
        }
    }
    assert!(files > 50);
}

#[test]
fn encrypted_tiles_need_the_key() {
    let files: Vec<_> = whole_files().into_iter().filter(|(name, _)| is_encrypted(name)).collect();
    assert!(!files.is_empty());
    let with_key = |key| GenericTileDecoder::new(Limits::default()).with_key(EncryptionKey::new(key));
    for (name, bytes) in files {
        let error = GenericTile::parse_file(&bytes, &Limits::default(), None).unwrap_err();
        let encryption = Encryption::Aes256Gcm;
        assert!(
            matches!(error, GenericTileError::KeyNeeded { offset: 0, encryption: found } if found == encryption),
            "{name}"
        );
        assert_eq!(error.key_problem(), Some(KeyProblem::Missing), "{name}");

        let error = with_key([7; 32]).decode_file(&bytes, None).unwrap_err();
        assert_eq!(error.key_problem(), Some(KeyProblem::Wrong), "{name}: {error}");

        let fixture = fixtures::named(name.split('/').next().unwrap());
        let key = fixture.expected().key().unwrap();
        let tile = with_key(key).decode_file(&bytes, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tile.header.encryption, encryption, "{name}");
        assert_eq!(tile.header.pipeline.to_string(), "gzip(1) | aes_256_gcm", "{name}");
        check_encryption(&tile, &bytes, EncryptionKey::new(key));
    }
}

/// Checks that encoding the payload gives the same header except for the size, and that the tile
/// round-trips.
fn check_encryption(tile: &GenericTile, bytes: &[u8], key: EncryptionKey) {
    let mut writer = ByteWriter::new();
    let mut encoder = GenericTileEncoder::new(tile.header.version).encrypting(key.clone(), counter());
    encoder.encode(&tile.payload, &mut writer).unwrap();
    let ours = writer.into_bytes();
    assert_eq!((&ours[..4], &ours[12..65]), (&bytes[..4], &bytes[12..65]));
    let mut decoder = GenericTileDecoder::new(Limits::default()).with_key(key);
    assert_eq!(decoder.decode_file(&ours, None).unwrap().payload, tile.payload);
}

/// Returns distinct initialization vectors.
fn counter() -> impl FnMut() -> [u8; 12] + Send + Sync + 'static {
    let mut count = 0u8;
    move || {
        count += 1;
        [count; 12]
    }
}

#[test]
fn unencrypted_tiles_reject_a_key() {
    let mut decoder = GenericTileDecoder::new(Limits::default()).with_key(EncryptionKey::new([7; 32]));
    for (name, bytes) in whole_files().into_iter().filter(|(name, _)| !is_encrypted(name)) {
        let error = decoder.decode_file(&bytes, None).unwrap_err();
        assert!(matches!(error, GenericTileError::KeyNotNeeded { offset: 0 }), "{name}: {error}");
        assert_eq!(error.key_problem(), Some(KeyProblem::NotNeeded));
    }
}

fn is_encrypted(name: &str) -> bool {
    name.contains("encrypted")
}

#[test]
fn recorded() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-1d");
    let path = fixture.array_files().find(|path| path.ends_with("__fragment_metadata.tdb")).unwrap().to_owned();
    let bytes = fixture.read(&path);
    let spans = Spans::new();
    let tile = GenericTile::parse(&mut ByteReader::new(&bytes).recording(&spans, 0), &Limits::default()).unwrap();
    tile.parse_payload(Some(&spans), |reader| {
        reader.u32("fanout")?;
        let left = reader.remaining() as u64;
        reader.bytes("the rest", left)
    })
    .unwrap();
    let mut text = String::new();
    for span in spans.to_vec() {
        let indent = usize::try_from(span.depth).unwrap() * 2 + 2;
        let value = [&*span.name, &span.value, &span.meaning].join(" ");
        // Compressed bytes depend on the encoder.
        let value = if span.name == "data" { "data" } else { value.trim() };
        writeln!(text, "{}  {:>#6x} {:>4}{:indent$}{value}", spans.space_name(span.space), span.offset, span.len, "")
            .unwrap();
    }
    insta::assert_snapshot!(text);
}

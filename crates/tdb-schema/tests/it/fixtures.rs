//! Schemas written by releases of the reference library: parsed, dumped, and written again to the
//! same bytes.
//!
//! Each release that wrote fixtures has a snapshot. After adding a fixture, run the tests with
//! `INSTA_UPDATE=always` and review the new snapshots.

use std::collections::BTreeMap;
use std::fmt::Write;

use tdb_filters::{EncryptionKey, KeyProblem};
use tdb_generic_tile::{GenericTile, GenericTileDecoder};
use tdb_schema::{ArraySchema, Enumeration};
use tdb_testkit::fixtures::{self, Fixture};
use tdb_types::{ByteWriter, Limits, Spans};

const ENUMERATIONS: &str = "__schema/__enumerations/";

/// Returns the schema files of an array and of its label arrays.
fn schema_files(fixture: &Fixture) -> Vec<&str> {
    let is_schema = |path: &&str| {
        path.ends_with("__array_schema.tdb") || (path.contains("__schema/") && !path.contains(ENUMERATIONS))
    };
    fixture.array_files().filter(is_schema).collect()
}

fn enumeration_files(fixture: &Fixture) -> Vec<&str> {
    fixture.array_files().filter(|path| path.starts_with(ENUMERATIONS)).collect()
}

/// Returns the unfiltered tile of a file.
fn tile(fixture: &Fixture, file: &[u8]) -> GenericTile {
    let decoder = GenericTileDecoder::new(Limits::default());
    let mut decoder = match fixture.expected().key() {
        Some(key) => {
            let error = GenericTile::parse_file(file, &Limits::default(), None).expect_err("the key is missing");
            assert_eq!(error.key_problem(), Some(KeyProblem::Missing));
            decoder.with_key(EncryptionKey::new(key))
        }
        None => decoder,
    };
    decoder.decode_file(file, None).expect("a generic tile")
}

/// Returns the writer part of the fixture's name, such as `v22-by-2.30.0`.
fn writer(fixture: &Fixture) -> String {
    fixture.name().splitn(4, '-').take(3).collect::<Vec<_>>().join("-")
}

fn snapshot(kind: &str, dumps: BTreeMap<String, String>) {
    for (writer, dump) in dumps {
        insta::assert_snapshot!(format!("{kind}-{writer}"), dump);
    }
}

#[test]
fn every_schema_is_read_and_written_again() {
    let mut dumps = BTreeMap::<_, String>::new();
    let mut count = 0;
    for fixture in fixtures::all() {
        for path in schema_files(&fixture) {
            let schema = read_and_written_again(&fixture, path);
            let folder = path.split("__schema/").next().unwrap_or_default();
            writeln!(dumps.entry(writer(&fixture)).or_default(), "--- {}/{folder}\n{}", fixture.name(), schema.dump())
                .expect("text");
            count += 1;
        }
    }
    assert!(count > 80, "only {count} schemas");
    snapshot("schemas", dumps);
}

#[test]
fn every_schema_of_older_releases_is_read_and_written_again() {
    let mut versions = BTreeMap::<_, usize>::new();
    for fixture in fixtures::of_older_releases() {
        for path in schema_files(&fixture) {
            let schema = read_and_written_again(&fixture, path);
            *versions.entry(schema.version().number()).or_default() += 1;
        }
    }
    assert!(versions.len() >= 18 && versions.values().sum::<usize>() > 300, "{versions:?}");
}

fn read_and_written_again(fixture: &Fixture, path: &str) -> ArraySchema {
    let place = format!("{} {path}", fixture.name());
    let tile = tile(fixture, &fixture.read(path));
    let schema = ArraySchema::parse_tile(&tile, None).unwrap_or_else(|error| panic!("{place}: {error}"));
    let mut written = ByteWriter::new();
    schema.write(&mut written).expect("a schema that was read can be written");
    assert_eq!(written.into_bytes(), tile.payload, "{place}");
    let file = schema.to_file().expect("a file");
    let (again, _) = ArraySchema::parse_file(&file, &Limits::default(), None).expect("a file");
    assert_eq!(again, schema, "{place}");
    schema
}

#[test]
fn every_enumeration_is_read_and_written_again() {
    let mut dumps = BTreeMap::<_, String>::new();
    for fixture in fixtures::all() {
        for path in enumeration_files(&fixture) {
            let file = fixture.read(path);
            let tile = tile(&fixture, &file);
            let enumeration = Enumeration::parse_tile(&tile, None)
                .unwrap_or_else(|error| panic!("{} {path}: {error}", fixture.name()));
            assert_eq!(path.strip_prefix(ENUMERATIONS), Some(enumeration.file_name()));
            let mut written = ByteWriter::new();
            enumeration.write(&mut written);
            assert_eq!(written.into_bytes(), tile.payload, "{} {path}", fixture.name());
            writeln!(dumps.entry(writer(&fixture)).or_default(), "--- {}\n{}", fixture.name(), enumeration.dump())
                .expect("text");
        }
    }
    assert!(!dumps.is_empty());
    snapshot("enumerations", dumps);
}

#[test]
fn a_recorded_parse_shows_a_tree() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-mixed");
    let path = schema_files(&fixture)[0];
    let spans = Spans::new();
    ArraySchema::parse_file(&fixture.read(path), &Limits::default(), Some(&spans)).expect("a schema");
    let mut text = String::new();
    for span in spans.to_vec() {
        let indent = 2 * span.depth as usize;
        let meaning = if span.meaning.is_empty() { String::new() } else { format!(" ({})", span.meaning) };
        writeln!(text, "{:4} {:indent$}{} {}{meaning}", span.offset, "", span.name, span.value).expect("text");
    }
    insta::assert_snapshot!(text);
}

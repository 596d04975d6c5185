//! Arrays of releases before 1.4, which had no format versions. The arrays are recognized and never
//! mistaken for newer arrays.

use std::sync::Arc;

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{Datatype, FormatVersion};
use tdb_array::{Array, ArrayError, ArrayOptions, CreateOptions, ErrorCategory, Group, GroupOptions};
use tdb_storage::{MemoryStorage, Storage};

/// Schema of a dense array, written by release 1.3.0.
const SCHEMA: &str = "510000000000000063000000000000000401000000000000000101000000010000000000000063000000000000003900\
    000000000000780163646060600662281050873098fe0301986060028ab00071517e793123940d16000926e7e7a00a82\
    548070220303c8081013000b861030";
/// Metadata of a fragment of this array.
const FRAGMENT: &str = "420000000000000094000000000000000401000000000000000101000000010000000000000094000000000000002a00\
    000000000000780163646060600662101080500c8c409a0588613454184e81c49101a97c983d0ec88620b10119300073";

fn bytes(digits: &str) -> Vec<u8> {
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.as_bytes().chunks(2).map(byte).collect()
}

fn storage(files: &[(&str, Vec<u8>)]) -> Arc<dyn Storage> {
    let storage = MemoryStorage::new();
    for (path, bytes) in files {
        storage.insert(path, bytes.clone()).unwrap();
    }
    Arc::new(storage)
}

fn open(files: &[(&str, Vec<u8>)]) -> ArrayError {
    ArrayOptions::new().open_on(storage(files)).map(|_: Array| ()).unwrap_err()
}

fn is_told(error: &ArrayError, file: &str) {
    assert_eq!(error.category(), ErrorCategory::Unsupported, "{error}");
    let text = error.to_string();
    assert!(text.contains(file) && text.contains("older than format version 1"), "{text}");
    assert!(text.contains("before 1.4") && !text.contains("newer"), "{text}");
}

#[test]
fn arrays() {
    is_told(&open(&[("__array_schema.tdb", bytes(SCHEMA)), ("__lock.tdb", Vec::new())]), "__array_schema.tdb");
    // Releases 1.0 and 1.1.
    let older = [("__array_metadata.tdb", bytes(SCHEMA)), ("__array_lock.tdb", Vec::new())];
    is_told(&open(&older), "__array_metadata.tdb");
}

#[test]
fn fragments() {
    let rows = Dimension::new("row", 1i32..=16);
    let schema = SchemaBuilder::dense().dimension(rows).attribute(Attribute::new("a", Datatype::Int32));
    for version in [1, 2] {
        let schema = schema.clone().version(FormatVersion::new(version).unwrap()).build().unwrap();
        let fragment = "__b4cae15e1a294904a1296510c34f19ec_1538747712566/__fragment_metadata.tdb";
        let storage = storage(&[(fragment, bytes(FRAGMENT))]);
        CreateOptions::new().create_on(&storage, schema).unwrap();
        let array = ArrayOptions::new().open_on(storage).unwrap();
        is_told(&array.fragments().unwrap_err(), fragment);
    }
}

#[test]
fn key_value_stores() {
    let files = [("__kv_schema.tdb", bytes(SCHEMA)), ("__lock.tdb", Vec::new())];
    let by_group = GroupOptions::new().open_on(storage(&files)).map(|_: Group| ()).unwrap_err();
    for error in [open(&files), by_group] {
        assert_eq!(error.category(), ErrorCategory::Unsupported, "{error}");
        assert!(error.to_string().contains("__kv_schema.tdb: the schema of a key-value store"), "{error}");
    }
}

/// Creation never overwrites an existing array.
#[test]
fn creation_never_overwrites() {
    let rows = Dimension::new("row", 1i32..=16);
    let schema = SchemaBuilder::sparse().dimension(rows).build().unwrap();
    for name in ["__array_metadata.tdb", "__kv_schema.tdb"] {
        let storage = storage(&[(name, bytes(SCHEMA))]);
        let error = CreateOptions::new().create_on(&storage, schema.clone()).unwrap_err();
        assert!(matches!(error, ArrayError::AlreadyThere { .. }), "{error}");
    }
}

/// Other bytes are reported as damage or as an unknown version.
#[test]
fn other_damage_is_not_reported_as_an_old_array() {
    let mut schema = bytes(SCHEMA);
    schema[16] = 5;
    let error = open(&[("__array_schema.tdb", schema)]);
    assert!(error.to_string().contains("newer"), "{error}");
    let mut schema = bytes(SCHEMA);
    schema[..4].fill(0);
    let error = open(&[("__array_schema.tdb", schema)]);
    assert_eq!(error.category(), ErrorCategory::Corrupt, "{error}");
    assert!(error.to_string().contains("found 0 at 0x0, expected 1 or above"), "{error}");
}

//! What metadata say, and nobody has written: it costs neither memory nor time.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tdb_array::Array;
use tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype, Scalar};
use tdb_zarr::{Error, Export, Import};

use crate::support::{change, counted};

fn bytes() -> Value {
    json!({ "name": "bytes", "configuration": { "endian": "little" } })
}

/// An array of Zarr with such metadata and chunks.
fn zarr(folder: &Path, changes: &[(&str, Value)], chunks: &[(&str, &[u8])]) -> PathBuf {
    let zarr = folder.join("array.zarr");
    let metadata = json!({
        "zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "int32",
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": [5] } },
        "chunk_key_encoding": { "name": "default" }, "fill_value": 0, "codecs": [bytes()], "dimension_names": null,
    });
    fs::create_dir_all(zarr.join("c")).unwrap();
    fs::write(zarr.join("zarr.json"), metadata.to_string()).unwrap();
    changes.iter().for_each(|(pointer, value)| change(&zarr, pointer, value.clone()));
    for (name, bytes) in chunks {
        let file = zarr.join("c").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    zarr
}

#[test]
fn dimensions_are_as_many_as_anybody_has() {
    let folder = tempfile::tempdir().unwrap();
    for (dimensions, is_read) in [(255, true), (256, false), (300_000, false)] {
        let names: Vec<String> = (0..dimensions).map(|number| format!("x{number}")).collect();
        let changes = [
            ("/shape", json!(vec![1; dimensions])),
            ("/chunk_grid/configuration/chunk_shape", json!(vec![1; dimensions])),
            ("/dimension_names", json!(names)),
        ];
        let made = Import::new()
            .to_folder(zarr(folder.path(), &changes, &[]), folder.path().join(format!("copy-{dimensions}")));
        assert_eq!(made.is_ok(), is_read, "{made:?}");
        assert!(is_read || matches!(made, Err(Error::Unsupported { why, .. }) if why.contains("dimensions")));
    }
}

#[test]
fn long_fill_values_make_small_boxes() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [
        ("/shape", json!([1 << 20])),
        ("/chunk_grid/configuration/chunk_shape", json!([1])),
        ("/data_type", json!("string")),
        ("/fill_value", json!("x".repeat(1 << 13))),
        ("/codecs", json!([{ "name": "vlen-utf8" }])),
    ];
    let chunk = [1, 0, 0, 0, 1, 0, 0, 0, b'y'];
    let zarr = zarr(folder.path(), &changes, &[("5", &chunk)]);
    let imported = Import::new().to_folder(&zarr, folder.path().join("copy")).unwrap();
    assert!(imported.cells <= 2048, "{imported:?}");
    // A chunk of them wouldn't fit.
    change(&zarr, "/chunk_grid/configuration/chunk_shape", json!([1 << 20]));
    let error = Import::new().to_folder(&zarr, folder.path().join("again")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn small_chunks_are_not_looked_for_by_millions() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [
        ("/shape", json!([1_u64 << 40])),
        ("/chunk_grid/configuration/chunk_shape", json!([1])),
        ("/data_type", json!("uint8")),
    ];
    let zarr = zarr(folder.path(), &changes, &[("7000000", &[1])]);
    let imported = Import::new().to_folder(zarr, folder.path().join("copy")).unwrap();
    assert!(imported.cells <= 1 << 16, "{imported:?}");
}

#[test]
fn boxes_are_as_many_as_can_be_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = json!({ "chunk_shape": [1 << 20], "codecs": [bytes()], "index_codecs": [bytes()] });
    let changes = [
        ("/shape", json!([1_u64 << 45])),
        ("/chunk_grid/configuration/chunk_shape", json!([1_u64 << 42])),
        ("/codecs", json!([{ "name": "sharding_indexed", "configuration": configuration }])),
    ];
    let zarr = zarr(folder.path(), &changes, &[("0", &[])]);
    let error = Import::new().budget(1 << 20).to_folder(zarr, folder.path().join("copy")).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { why, .. } if why.contains("larger one")), "{error}");
}

#[test]
fn cells_of_a_mark_are_as_long_as_anybody_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let [path, out, copy] = ["array", "array.zarr", "copy"].map(|name| folder.path().join(name));
    let dimension = Dimension::new("x", Datatype::UInt64, Scalar::U64(0), Scalar::U64(9));
    let attribute = Attribute::new("a", Datatype::Float64).with_cell_val_num(CellValNum::from_code(3).unwrap());
    let schema = SchemaBuilder::dense().dimension(dimension.with_tile_extent(Scalar::U64(5))).attribute(attribute);
    Array::create(&path, &ArrayDefinition::new(schema.build().unwrap()).unwrap()).unwrap();
    Export::new().array(&Array::open(&path).unwrap(), &out).unwrap();
    let text = fs::read_to_string(out.join("zarr.json")).unwrap();
    // Chunks have one value of each.
    let count = 1_u64 << 22;
    let text = text.replace("values_per_cell = 3", &format!("values_per_cell = {count}"));
    fs::write(out.join("zarr.json"), text).unwrap();
    change(&out, "/shape", json!([10, count]));
    change(&out, "/chunk_grid/configuration/chunk_shape", json!([5, 1]));
    let imported = Import::new().to_folder(&out, &copy).unwrap();
    assert!(imported.notes[0].contains("more than"), "{imported:?}");
    assert_eq!(Array::open(copy).unwrap().schema().dimensions().len(), 2);
}

#[test]
fn tiles_of_a_mark_are_no_larger_than_arrays_have_them() {
    let folder = tempfile::tempdir().unwrap();
    let [path, out] = ["array", "array.zarr"].map(|name| folder.path().join(name));
    let array = counted(&path, &[1 << 20], &[1 << 20]);
    Export::new().chunks([5]).range("d0", 10_u64..=14).array(&array, &out).unwrap();
    let text = fs::read_to_string(out.join("zarr.json")).unwrap();
    let (last, extent) = (10 + (1_u64 << 20) - 1, 1_u64 << 20);
    assert!(text.contains(&last.to_string()) && text.contains(&extent.to_string()), "{text}");
    let text = text.replace(&last.to_string(), &(1_u64 << 40).to_string());
    fs::write(out.join("zarr.json"), text.replace(&extent.to_string(), &(1_u64 << 39).to_string())).unwrap();
    match Import::new().to_folder(&out, folder.path().join("copy")) {
        Ok(imported) => assert_eq!(imported.cells, 5),
        Err(error) => assert!(matches!(error, Error::Array(_) | Error::Unsupported { .. }), "{error:?}"),
    }
}

//! Large claims in metadata cost neither memory nor time without matching data.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_array::{Array, MetadataValue};
use tdb_zarr::{Error, Export, Import};

use tdb_testkit::allocations::peak_while;

use crate::support::{change, counted, places};

fn bytes() -> Value {
    json!({ "name": "bytes", "configuration": { "endian": "little" } })
}

/// Creates a Zarr array with changed metadata and chunks.
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
fn dimension_count_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    for (dimensions, is_read) in [(255, true), (256, false), (50_000, false)] {
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
    // A chunk of these would not fit.
    change(&zarr, "/chunk_grid/configuration/chunk_shape", json!([1 << 20]));
    let error = Import::new().to_folder(&zarr, folder.path().join("again")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn missing_small_chunks_are_not_searched_one_by_one() {
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
fn box_count_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let configuration = json!({ "chunk_shape": [1 << 20], "codecs": [bytes()], "index_codecs": [bytes()] });
    let changes = [
        ("/shape", json!([1_u64 << 45])),
        ("/chunk_grid/configuration/chunk_shape", json!([1_u64 << 42])),
        ("/codecs", json!([{ "name": "sharding_indexed", "configuration": configuration }])),
    ];
    let zarr = zarr(folder.path(), &changes, &[]);
    // In an index of zeros, every chunk exists.
    fs::File::create(zarr.join("c/0")).unwrap().set_len(16 << 22).unwrap();
    let error = Import::new().budget(1 << 20).to_folder(zarr, folder.path().join("copy")).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { why, .. } if why.contains("larger budget")), "{error}");
}

#[test]
fn cell_size_in_a_mark_is_limited() {
    let (_folder, [path, out, copy]) = places(["array", "array.zarr", "copy"]);
    let dimension = Dimension::new("x", 0u64..=9);
    let attribute = Attribute::new("a", Datatype::Float64).with_cell_val_num(CellValNum::from_code(3).unwrap());
    let schema = SchemaBuilder::dense().dimension(dimension.with_tile(5)).attribute(attribute);
    Array::create(&path, schema.build().unwrap()).unwrap();
    Export::new().array(&Array::open(&path).unwrap(), &out).unwrap();
    let text = fs::read_to_string(out.join("zarr.json")).unwrap();
    // Each chunk contains one value of each cell.
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
fn tile_size_in_a_mark_is_limited() {
    let (folder, [path, out]) = places(["array", "array.zarr"]);
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

/// Measures the peak memory of an import on one thread.
fn peak_of(zarr: &Path, copy: &Path) -> (u64, Result<tdb_zarr::Imported, Error>) {
    let mut made = None;
    let peak = peak_while(|| made = Some(Import::new().threads(1).to_folder(zarr, copy)));
    (peak, made.unwrap())
}

#[test]
fn memory_of_metadata_is_limited() {
    const MIB: u64 = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let zarr = zarr(folder.path(), &[], &[]);
    let told = fs::read_to_string(zarr.join("zarr.json")).unwrap();
    let with = |name: &str, value: &str| {
        let text = told.trim_end().strip_suffix('}').unwrap();
        fs::write(zarr.join("zarr.json"), format!("{text},\"{name}\":{value}}}")).unwrap();
    };
    let of_many = |one: &str, count: usize| format!("[{}{one}]", format!("{one},").repeat(count - 1));
    // Tens of MiB of the smallest values, which would take gigabytes parsed.
    for one in ["1", "{}", "[]", r#"{"":0}"#, r#"[[""]]"#] {
        let count = (60 << 20) / (one.len() + 1);
        with("attributes", &format!(r#"{{"a":{}}}"#, of_many(one, count)));
        let (peak, made) = peak_of(&zarr, &folder.path().join("copy"));
        let why = made.unwrap_err().to_string();
        assert!(why.contains("values exceed the limit of 262144") && peak < 128 * MIB, "{one}: {peak} {why}");
    }
    // The maximum number of values.
    for (one, count) in [("1", 250_000), (r#"{"":0}"#, 87_000), ("[]", 120_000)] {
        with("attributes", &format!(r#"{{"a":{}}}"#, of_many(one, count)));
        let copy = folder.path().join(format!("copy-{count}"));
        let (peak, made) = peak_of(&zarr, &copy);
        assert!(made.is_ok() && peak < 128 * MIB, "{one}: {peak} {made:?}");
    }
    // A string of the maximum length, then one byte longer.
    let room = (64 << 20) - told.trim_end().len() - r#","attributes":{"a":""}"#.len();
    for (len, is_read) in [(room, true), (room + 1, false)] {
        with("attributes", &format!(r#"{{"a":"{}"}}"#, "x".repeat(len)));
        let (peak, made) = peak_of(&zarr, &folder.path().join(format!("text-{len}")));
        assert!(made.is_ok() == is_read && peak < 512 * MIB, "{len}: {peak} {made:?}");
    }
    // Consolidated metadata are not parsed.
    with("consolidated_metadata", &of_many("1", 20 << 20));
    let (peak, made) = peak_of(&zarr, &folder.path().join("consolidated"));
    assert!(made.is_ok() && peak < 128 * MIB, "{peak} {made:?}");
}

#[test]
fn unreadable_metadata_is_not_written() {
    let (folder, [path, out, copy]) = places(["array", "array.zarr", "copy"]);
    let array = counted(&path, &[4], &[2]);
    let numbers = |count: i64| {
        let bytes = (0..count).flat_map(i64::to_le_bytes).collect();
        MetadataValue::new(Datatype::Int64, bytes).unwrap()
    };
    // A list of this length becomes bytes in the mark.
    let long = numbers(300_000);
    array.write_metadata().put("long", long.clone()).commit().unwrap();
    Export::new().array(&Array::open(&path).unwrap(), &out).unwrap();
    Import::new().to_folder(&out, &copy).unwrap();
    assert_eq!(Array::open(&copy).unwrap().metadata().unwrap().get("long"), Some(&long));
    let mut metadata = array.write_metadata();
    for number in 0..20 {
        metadata = metadata.put(format!("{number}"), numbers(16_000));
    }
    metadata.commit().unwrap();
    let refused = folder.path().join("refused.zarr");
    let error = Export::new().array(&Array::open(&path).unwrap(), &refused).unwrap_err();
    assert!(matches!(&error, Error::Refused { why, .. } if why.contains("JSON values exceed")), "{error}");
    assert!(!refused.exists());
}

//! Exports of parts of arrays, and invalid parts.

use std::ops::RangeInclusive;

use tdb_array::Array;
use tdb_zarr::{Compression, Error, Export, Import};

use crate::support::{cells, cells_of, counted, metadata, places};

#[test]
fn exported_ranges_import_at_the_same_coordinates() {
    let (_folder, [path, zarr, copy]) = places(["array", "box.zarr", "copy"]);
    let array = counted(&path, &[20, 7], &[6, 3]);
    let export = Export::new().range("d0", 13_u64..=24).range("d1", 12_u64..=15).chunks([5, 2]).budget(100);
    assert_eq!(export.array(&array, &zarr).unwrap().cells, 48);
    let told = metadata(&zarr);
    assert_eq!(told["shape"], serde_json::json!([12, 4]));
    assert_eq!(told["chunk_grid"]["configuration"]["chunk_shape"], serde_json::json!([5, 2]));
    assert_eq!(told["dimension_names"], serde_json::json!(["d0", "d1"]));
    assert_eq!(told["codecs"][1]["configuration"]["level"], 2);

    let imported = Import::new().threads(1).to_folder(&zarr, &copy).unwrap();
    assert_eq!((imported.cells, imported.notes), (48, Vec::new()));
    let copy = Array::open(&copy).unwrap();
    assert_eq!(copy.schema().dimensions(), array.schema().dimensions());
    let part = |array: &Array| {
        let query = array.read().range("d0", 13_u64..=24).unwrap().range("d1", 12_u64..=15).unwrap();
        cells_of(query, &["a".to_owned()])
    };
    assert_eq!(part(&copy), part(&array));
    let bounds = copy.non_empty_coordinates().unwrap().unwrap();
    assert_eq!(format!("{bounds:?}"), "[Integer(13)..=Integer(24), Integer(12)..=Integer(15)]");
}

#[test]
fn unwritten_chunks_have_no_file() {
    let (_folder, [path, zarr, copy]) = places(["array", "array.zarr", "copy"]);
    let array = counted(&path, &[40], &[4]);
    let zeros = vec![i32::MIN; 8];
    array.write().range("d0", 14_u64..=21).unwrap().cells([("a", &zeros)]).unwrap();
    let array = Array::open(&path).unwrap();
    Export::new().compression(Compression::None).array(&array, &zarr).unwrap();
    let mut chunks: Vec<String> = std::fs::read_dir(zarr.join("c"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    chunks.sort_by_key(|name| name.parse::<u32>().unwrap());
    assert_eq!(chunks, ["0", "3", "4", "5", "6", "7", "8", "9"]);
    Import::new().to_folder(&zarr, &copy).unwrap();
    assert_eq!(cells(&Array::open(&copy).unwrap()), cells(&array));
}

#[test]
fn failed_exports_neither_overwrite_nor_leave_files() {
    let (folder, [path, zarr, copy]) = places(["array", "array.zarr", "copy"]);
    let array = counted(&path, &[40], &[4]);
    let stopped = Export::new().budget(16).observer(|done, of| done < of / 2).array(&array, &zarr);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(names(), 1);
    Export::new().array(&array, &zarr).unwrap();
    assert!(matches!(Export::new().array(&array, &zarr), Err(Error::AlreadyThere { .. })));
    let stopped = Import::new().budget(16).observer(|done, of| done < of / 2).to_folder(&zarr, &copy);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(names(), 2);
    for refused in [
        Export::new().range("d0", 5_u64..=12),
        Export::new().range("d0", RangeInclusive::new(12_u64, 11)),
        Export::new().range("x", 11_u64..=12),
        Export::new().range("d0", "a".to_owned()..="b".to_owned()),
        Export::new().select(["b"]),
        Export::new().chunks([4, 4]),
        Export::new().chunks([0]),
    ] {
        let error = refused.array(&array, folder.path().join("refused")).unwrap_err();
        assert!(matches!(error, Error::Array(_) | Error::Refused { .. }), "{error}");
    }
    assert_eq!(names(), 2);
    let sparse = Array::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-sparse-2d/array"));
    let refused = Export::new().array(&sparse.unwrap(), folder.path().join("refused")).unwrap_err();
    assert!(refused.to_string().contains("sparse"), "{refused}");
}

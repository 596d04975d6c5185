//! Marks that contradict the Zarr data.

use std::path::Path;

use serde_json::json;
use tdb_array::Array;
use tdb_array::tdb_types::Datatype;
use tdb_zarr::{Export, Import};

use crate::support::{cells, change, counted};

/// Imports a changed export. Returns the array, and `true` if the mark was ignored.
fn changed(change: impl FnOnce(&Path)) -> (Array, bool) {
    let folder = tempfile::tempdir().unwrap().keep();
    let [path, zarr, copy] = ["array", "array.zarr", "copy"].map(|name| folder.join(name));
    Export::new().array(&counted(&path, &[10, 4], &[5, 3]), &zarr).unwrap();
    change(&zarr);
    let imported = Import::new().to_folder(&zarr, &copy).unwrap();
    let array = Array::open(&copy).unwrap();
    assert_eq!(array.schema().attributes()[0].datatype(), Datatype::Int32);
    array.fragments().unwrap();
    let all = cells(&array);
    assert_eq!(all[0].1.len() % 4, 0);
    std::fs::remove_dir_all(folder).unwrap();
    (array, !imported.notes.is_empty())
}

#[test]
fn marks_apply_only_to_matching_data() {
    let first = |array: &Array| array.schema().dimensions()[0].domain_keys().unwrap();
    let (array, passed_over) = changed(|_| {});
    assert_eq!((first(&array), passed_over), ((10, 19), false));
    // A longer array, after another program has appended data.
    let (array, passed_over) = changed(|zarr| change(zarr, "/shape", json!([12, 4])));
    assert_eq!((first(&array), passed_over), ((0, 11), true));
    let (array, passed_over) = changed(|zarr| change(zarr, "/fill_value", json!(3)));
    assert_eq!((array.schema().attributes()[0].fill_value().as_ref(), passed_over), (&[3, 0, 0, 0][..], true));
    for (pointer, value) in [
        ("/attributes/tdb/schema", json!("nonsense")),
        ("/attributes/tdb/origin", json!([11, 10])),
        ("/attributes/tdb/origin", json!([10])),
        ("/attributes/tdb/fields", json!([])),
        ("/attributes/tdb/fields", json!([{ "attribute": "b", "array": null }])),
        ("/attributes/tdb/fields", json!([{ "attribute": "a", "array": "../../array" }])),
        ("/attributes/tdb/fields/0/array", json!("elsewhere")),
    ] {
        let (array, passed_over) = changed(|zarr| change(zarr, pointer, value.clone()));
        assert_eq!((first(&array), passed_over), ((0, 9), true), "{pointer} {value}");
    }
    // Invalid descriptions of metadata do no harm.
    let (_, passed_over) = changed(|zarr| {
        change(zarr, "/attributes/tdb", json!({ "types": { "a": 1 }, "metadata": [1, { "key": "=" }], "members": [] }));
    });
    assert!(!passed_over);
}

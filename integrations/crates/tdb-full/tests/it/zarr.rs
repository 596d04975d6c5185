//! Exports and imports of Zarr folders.

use std::fs;

use crate::command::{stdout, tdb, text};

const DENSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-dense-2d-row-row/array");
const SPARSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-sparse-2d/array");

/// Returns the exit code and the error output.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let run = tdb(arguments);
    (run.status.code(), text(&run.stderr))
}

#[test]
fn arrays_and_groups_survive_export_and_import() {
    let folder = tempfile::tempdir().unwrap();
    let [zarr, copy, group, all, again] = ["a.zarr", "copy", "group", "all.zarr", "again"]
        .map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    stdout(&["export", DENSE, &zarr, "--option", "compression=gzip:3"]);
    stdout(&["import", &copy, &zarr]);
    let cells = |array: &str| stdout(&["read", array, "--format", "csv", "--order", "row-major"]);
    assert_eq!(cells(&copy), cells(DENSE));
    assert_eq!(stdout(&["schema", &copy, "--format", "toml"]), stdout(&["schema", DENSE, "--format", "toml"]));

    stdout(&["group", "create", &group]);
    stdout(&["export", DENSE, &format!("{zarr}.box"), "--format", "zarr", "--range", "y=1", "--select", "a"]);
    stdout(&["import", &format!("{group}/part"), &format!("{zarr}.box"), "--format", "zarr"]);
    stdout(&["group", "add", &group, "part"]);
    stdout(&["export", &group, &all]);
    stdout(&["import", &again, &all, "--timestamp", "1000ms"]);
    assert_eq!(cells(&format!("{again}/part")), cells(&format!("{group}/part")));
    assert!(stdout(&["tree", &again, "--format", "csv"]).contains("part"));
    assert!(stdout(&["fragments", &format!("{again}/part"), "--format", "csv"]).contains("__1000_1000_"));
}

#[test]
fn unsupported_exports_and_imports_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let [zarr, other, array] =
        ["a.zarr", "b.zarr", "array"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    stdout(&["export", DENSE, &zarr]);
    for (arguments, code, word) in [
        (vec!["export", DENSE, &zarr], 5, "already"),
        (vec!["export", SPARSE, &other], 4, "sparse"),
        (vec!["export", DENSE, &other, "--where", "a > 1"], 2, "--where"),
        (vec!["export", DENSE, &other, "--order", "row-major"], 2, "--order"),
        (vec!["export", DENSE, &other, "--option", "chunks=x"], 2, "chunks=x"),
        (vec!["export", DENSE, &other, "--option", "compression=zstd:99"], 2, "zstd:99"),
        (vec!["export", DENSE, &other, "--option", "compression=none:1"], 2, "none:1"),
        (vec!["export", DENSE, &other, "--option", "shards=1"], 2, "shards"),
        (vec!["import", &array, &zarr, &zarr], 2, "one at a time"),
        (vec!["import", &array, &zarr, "--dimensions", "y"], 2, "--dimensions"),
        (vec!["import", &array, &zarr, "--dry-run"], 2, "--dry-run"),
        (vec!["import", &array, &other], 5, "not a Zarr array or group"),
        (vec!["import", &zarr, &zarr], 5, "already"),
    ] {
        let (found, said) = refused(&arguments);
        assert_eq!(found, Some(code), "{arguments:?}: {said}");
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
    // Invalid chunks in every Zarr array: the import fails, and creates no array.
    for entry in fs::read_dir(&zarr).unwrap() {
        let chunk = entry.unwrap().path().join("c/0/0");
        if chunk.exists() {
            fs::write(chunk, [0xff; 9]).unwrap();
        }
    }
    let chunk = std::path::Path::new(&zarr).join("c/0/0");
    if chunk.exists() {
        fs::write(chunk, [0xff; 9]).unwrap();
    }
    let (found, said) = refused(&["import", &array, &zarr]);
    assert_eq!((found, said.contains("chunk [0, 0]")), (Some(3), true), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

//! Untrusted folders: links, pipes, and other files.

use std::fs;
use std::path::Path;

use serde_json::json;
use tdb_array::{Array, Group};
use tdb_zarr::{Error, Export, Import};

use crate::support::{cells, change, counted, places};

/// Creates an empty Zarr group.
fn group(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("zarr.json"), r#"{"zarr_format":3,"node_type":"group","attributes":{}}"#).unwrap();
}

fn array(folder: &Path, zarr: &Path) {
    let array = counted(&folder.join("array"), &[10, 4], &[5, 3]);
    Export::new().array(&array, zarr).unwrap();
}

#[test]
#[cfg(unix)]
fn links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let zarr = folder.path().join("group.zarr");
    group(&zarr);
    array(folder.path(), &folder.path().join("elsewhere"));
    symlink(folder.path().join("elsewhere"), zarr.join("a")).unwrap();
    let copy = folder.path().join("copy");
    assert_eq!(Import::new().to_folder(&zarr, &copy).unwrap().cells, 40);
    // Two links per level would reach the last folder in 2^40 ways.
    for depth in 0..40 {
        let below = folder.path().join(format!("below-{depth}"));
        group(&below);
        let above = if depth == 0 { zarr.clone() } else { folder.path().join(format!("below-{}", depth - 1)) };
        symlink(&below, above.join("b")).unwrap();
        symlink(&below, above.join("c")).unwrap();
    }
    let error = Import::new().to_folder(&zarr, folder.path().join("again")).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { why, .. } if why.contains("another link")), "{error}");
}

#[test]
#[cfg(unix)]
fn chunks_behind_links_are_read_once() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let zarr = folder.path().join("array.zarr");
    array(folder.path(), &zarr);
    fs::rename(zarr.join("c"), folder.path().join("elsewhere")).unwrap();
    symlink(folder.path().join("elsewhere"), zarr.join("c")).unwrap();
    let copy = folder.path().join("copy");
    Import::new().to_folder(&zarr, &copy).unwrap();
    assert_eq!(cells(&Array::open(copy).unwrap()), cells(&Array::open(folder.path().join("array")).unwrap()));
    // Folders of 40 dimensions that link to themselves.
    change(&zarr, "/attributes", json!({}));
    change(&zarr, "/shape", json!(vec![2; 40]));
    change(&zarr, "/chunk_grid/configuration/chunk_shape", json!(vec![1; 40]));
    change(&zarr, "/dimension_names", json!(null));
    let chunks = folder.path().join("elsewhere");
    fs::remove_dir_all(&chunks).unwrap();
    fs::create_dir(&chunks).unwrap();
    symlink(&chunks, chunks.join("0")).unwrap();
    symlink(&chunks, chunks.join("1")).unwrap();
    let error = Import::new().to_folder(&zarr, folder.path().join("again")).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { why, .. } if why.contains("another link")), "{error}");
}

#[test]
#[cfg(unix)]
fn pipes_and_folders_instead_of_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (number, place) in ["zarr.json", "c/0/0"].into_iter().enumerate() {
        for is_pipe in [true, false] {
            let zarr = folder.path().join(format!("{number}-{is_pipe}.zarr"));
            let whole = folder.path().join(format!("{number}-{is_pipe}"));
            Export::new().array(&counted(&whole, &[10, 4], &[5, 3]), &zarr).unwrap();
            fs::remove_file(zarr.join(place)).unwrap();
            if is_pipe {
                assert!(std::process::Command::new("mkfifo").arg(zarr.join(place)).status().unwrap().success());
            } else {
                fs::create_dir(zarr.join(place)).unwrap();
            }
            let error = Import::new().to_folder(&zarr, folder.path().join("copy")).unwrap_err();
            assert!(matches!(error, Error::Io { .. } | Error::Chunk { .. }), "{error:?}");
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
    }
}

#[test]
fn duplicate_member_names_in_a_mark_become_distinct() {
    let (_folder, [zarr, copy]) = places(["group.zarr", "copy"]);
    for name in ["", "a", "b", "c"] {
        group(&zarr.join(name));
    }
    fs::create_dir_all(zarr.join("no node")).unwrap();
    change(&zarr, "/attributes", json!({ "tdb": { "members": { "a": "b", "b": "b", "c": "../b" } } }));
    let imported = Import::new().to_folder(&zarr, &copy).unwrap();
    assert!(matches!(imported.notes.as_slice(), [note] if note.contains("neither arrays nor groups")));
    let group = Group::open(&copy).unwrap();
    let names: Vec<&str> = group.members().iter().map(tdb_array::Member::key).collect();
    assert_eq!((names.len(), names.contains(&"b"), names.contains(&"b_")), (3, true, true), "{names:?}");
}

//! Converts output of zarr-python for the reference library, and the reverse. The target library
//! reads the result.

use std::ffi::OsStr;
use std::process::Command;

use tdb_array::Array;
use tdb_zarr::{Export, Import};

fn judge(arguments: &[&OsStr]) {
    let python = std::env::var("TDB_PYTHON").expect("TDB_PYTHON: a Python with zarr 3 and tiledb");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/zarr/judge.py");
    assert!(Command::new(python).arg(script).args(arguments).status().unwrap().success());
}

#[test]
#[ignore = "needs TDB_PYTHON, a Python with zarr 3 and tiledb"]
fn arrays_of_zarr_python_import() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    judge(&["make".as_ref(), place.as_ref()]);
    for (number, entry) in std::fs::read_dir(place).unwrap().enumerate() {
        let zarr = entry.unwrap().path();
        let budget = if number % 2 == 0 { 4096 } else { 1 << 26 };
        Import::new().budget(budget).to_folder(&zarr, zarr.with_extension("")).unwrap();
    }
    judge(&["imported".as_ref(), place.as_ref()]);
}

#[test]
#[ignore = "needs TDB_PYTHON, a Python with zarr 3 and tiledb"]
fn zarr_python_reads_exports() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    judge(&["arrays".as_ref(), place.as_ref()]);
    let paths: Vec<_> = std::fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    for (number, path) in paths.iter().enumerate() {
        let budget = if number % 2 == 0 { 4096 } else { 1 << 26 };
        let exported = Export::new().budget(budget).array(&Array::open(path).unwrap(), path.with_extension("zarr"));
        exported.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    judge(&["exported".as_ref(), place.as_ref()]);
}

//! Beside zarr-python and the reference library: what they wrote is read here, and the other way.

use std::ffi::OsStr;
use std::process::Command;

use tdb_array::Array;
use tdb_testkit::fixtures;
use tdb_zarr::{Export, Import};

use crate::support::domain_cells;

fn judge(arguments: &[&OsStr]) {
    let python = std::env::var("TDB_PYTHON").expect("TDB_PYTHON: a Python with zarr 3 and tiledb");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/zarr/judge.py");
    assert!(Command::new(python).arg(script).args(arguments).status().unwrap().success());
}

#[test]
#[ignore = "needs TDB_PYTHON, a Python with zarr 3 and tiledb"]
fn what_zarr_python_wrote_is_read() {
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
fn what_is_written_zarr_python_reads() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in fixtures::all()
        .into_iter()
        .chain(fixtures::of_older_releases())
        .filter(|fixture| fixture.expected().key().is_none())
    {
        let place = folder.path().join(fixture.name());
        fixture.unpack_into(&place);
        let array = Array::open(place.join("array"));
        let is_exported = array.is_ok_and(|array| {
            let is_small = array.schema().is_dense() && domain_cells(&array) <= 1_000_000;
            is_small && Export::new().array(&array, place.join("export.zarr")).is_ok()
        });
        if !is_exported {
            std::fs::remove_dir_all(place).unwrap();
        }
    }
    judge(&["exported".as_ref(), folder.path().as_ref()]);
}

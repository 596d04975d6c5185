//! Tests of the output of `tdb diff`.

use std::ffi::OsStr;

use insta::assert_snapshot;
use tdb_array::{Array, WriteBatch, WriteColumn};
use tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_types::Datatype;

use crate::support::{Transcript, tdb};

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";

#[test]
fn arrays_that_differ() {
    let mut seen = Transcript::default();
    let before = "v22-by-2.30.0-sparse-deletes/array";
    seen.run(&format!("diff {SPARSE} {SPARSE} --format table"));
    seen.run(&format!("diff {before} --other-at 1 --format table -n 5"));
    seen.run(&format!("diff {before} --other-at 1 -n 2"));
    let dense = "v22-by-2.30.0-dense-2d-row-row/array";
    seen.run(&format!("diff {dense} v22-by-2.30.0-dense-2d-col-col/array --physical --format table"));
    seen.run(&format!("diff {SPARSE} {dense} -n 0"));
    seen.run(&format!("diff {SPARSE}"));
    assert_snapshot!("arrays_that_differ", seen);
}

#[test]
fn no_time_differs_visibly_from_null() {
    let folder = tempfile::tempdir().unwrap();
    let day = Attribute::new("day", Datatype::DatetimeDay).nullable(true);
    let x = Dimension::new("x", 0i32..=9);
    let schema = SchemaBuilder::sparse().dimension(x).attribute(day).build().unwrap();
    let paths = ["one", "other"].map(|name| folder.path().join(name));
    for (path, cell) in paths.iter().zip([Some(i64::MIN), None]) {
        Array::create(path, schema.clone()).unwrap();
        let cells = WriteBatch::new().with("x", &[3]).with("day", WriteColumn::options([cell]));
        Array::open(path).unwrap().write().cells(cells).unwrap();
    }
    let [one, other] = paths.each_ref().map(|path| path.as_os_str());
    let diff = tdb([OsStr::new("diff"), one, other]);
    assert!(diff.stdout.contains(r#""first":"NaT","second":null"#), "{}", diff.stdout);
}

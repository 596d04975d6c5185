//! `tdb diff`: what it prints.

use crate::support::run;
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";

#[test]
fn arrays_that_differ() {
    let before = "v22-by-2.30.0-sparse-deletes/array";
    assert_snapshot!("same", run(&format!("diff {SPARSE} {SPARSE} --format table")));
    assert_snapshot!("times", run(&format!("diff {before} --other-at 1 --format table -n 5")));
    assert_snapshot!("times_json", run(&format!("diff {before} --other-at 1 -n 2")));
    let dense = "v22-by-2.30.0-dense-2d-row-row/array";
    assert_snapshot!(
        "dense",
        run(&format!("diff {dense} v22-by-2.30.0-dense-2d-col-col/array --physical --format table"))
    );
    assert_snapshot!("incomparable", run(&format!("diff {SPARSE} {dense} -n 0")));
    assert_snapshot!("one_array", run(&format!("diff {SPARSE}")));
}

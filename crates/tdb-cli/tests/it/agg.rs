//! Tests of the output of `tdb agg` and `tdb stats`.

use crate::support::{Transcript, run};
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";
const ENUMERATIONS: &str = "v22-by-2.30.0-dense-enumerations/array";
const NULLABLE: &str = "v22-by-2.30.0-dense-every-datatype-nullable/array";

#[test]
fn aggregates_of_all_cells() {
    let mut seen = Transcript::default();
    seen.run(&format!("agg {SPARSE}"));
    let all =
        "--count --values a --nulls s --sum a --mean a --min a,s --max a --distinct s --median a --quantile a=0.9";
    for format in ["table", "csv", "jsonl"] {
        seen.run(&format!("agg {SPARSE} {all} --format {format}"));
    }
    seen.run(&format!("agg {DATES} --min day --max day --mean day --format table"));
    assert_snapshot!("aggregates_of_all_cells", seen);
}

#[test]
fn aggregates_by_group() {
    let mut seen = Transcript::default();
    seen.run(&format!("agg {SPARSE} --count --sum a --by y --range x=0..9 --format table"));
    seen.run(&format!("agg {SPARSE} --by y,x -n 3 --format csv"));
    // The result does not depend on the budget.
    let line = format!("agg {SPARSE} --count --distinct s --max s --by y");
    assert_eq!(run(&format!("{line} --budget 1")).stdout, run(&line).stdout);
    seen.run(&format!("agg {SPARSE} --by y --range x=1 --range y=-10 --format table"));
    seen.run(&format!("agg {ENUMERATIONS} --count --min size --by colour --format table"));
    assert_snapshot!("aggregates_by_group", seen);
}

#[test]
fn invalid_aggregates_are_rejected() {
    let mut seen = Transcript::default();
    for options in
        ["--sum b", "--sum s", "--quantile a=1.5", "--quantile a", "--by b", "--by y,y", "--where a>x", "--limit 3"]
    {
        seen.run(&format!("agg {SPARSE} {options}"));
    }
    assert_snapshot!("invalid_aggregates_are_rejected", seen);
}

#[test]
fn summaries_of_fields() {
    let mut seen = Transcript::default();
    for array in [SPARSE, DATES, ENUMERATIONS, NULLABLE] {
        seen.run(&format!("stats {array} --format table"));
    }
    seen.run(&format!("stats {SPARSE} --select a --format json"));
    seen.run(&format!("stats {SPARSE} --quick --where a>20 --format table"));
    assert_snapshot!("summaries_of_fields", seen);
}

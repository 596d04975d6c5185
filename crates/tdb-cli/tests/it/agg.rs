//! Tests of the output of `tdb agg` and `tdb stats`.

use crate::support::run;
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";
const ENUMERATIONS: &str = "v22-by-2.30.0-dense-enumerations/array";
const NULLABLE: &str = "v22-by-2.30.0-dense-every-datatype-nullable/array";

#[test]
fn aggregates_of_all_cells() {
    assert_snapshot!("count", run(&format!("agg {SPARSE}")));
    let all =
        "--count --values a --nulls s --sum a --mean a --min a,s --max a --distinct s --median a --quantile a=0.9";
    for format in ["table", "csv", "jsonl"] {
        assert_snapshot!(format!("all_{format}"), run(&format!("agg {SPARSE} {all} --format {format}")));
    }
    assert_snapshot!("dates", run(&format!("agg {DATES} --min day --max day --mean day --format table")));
}

#[test]
fn aggregates_by_group() {
    assert_snapshot!("by", run(&format!("agg {SPARSE} --count --sum a --by y --range x=0..9 --format table")));
    assert_snapshot!("by_two", run(&format!("agg {SPARSE} --by y,x -n 3 --format csv")));
    // The result does not depend on the budget.
    let line = format!("agg {SPARSE} --count --distinct s --max s --by y");
    assert_eq!(run(&format!("{line} --budget 1")).stdout, run(&line).stdout);
    assert_snapshot!("by_none", run(&format!("agg {SPARSE} --by y --range x=1 --range y=-10 --format table")));
    assert_snapshot!(
        "by_enumeration",
        run(&format!("agg {ENUMERATIONS} --count --min size --by colour --format table"))
    );
}

#[test]
fn invalid_aggregates_are_rejected() {
    for (name, options) in [
        ("unknown", "--sum b"),
        ("no_sum", "--sum s"),
        ("beyond", "--quantile a=1.5"),
        ("no_part", "--quantile a"),
        ("by_unknown", "--by b"),
        ("by_twice", "--by y,y"),
        ("where", "--where a>x"),
        ("limit", "--limit 3"),
    ] {
        assert_snapshot!(format!("error_{name}"), run(&format!("agg {SPARSE} {options}")));
    }
}

#[test]
fn summaries_of_fields() {
    for (name, array) in [("sparse", SPARSE), ("dates", DATES), ("enumerations", ENUMERATIONS), ("nullable", NULLABLE)]
    {
        assert_snapshot!(format!("stats_{name}"), run(&format!("stats {array} --format table")));
    }
    assert_snapshot!("stats_json", run(&format!("stats {SPARSE} --select a --format json")));
    assert_snapshot!("stats_quick", run(&format!("stats {SPARSE} --quick --where a>20 --format table")));
}

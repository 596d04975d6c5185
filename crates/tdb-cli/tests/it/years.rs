//! Tests of years, dates and numbers of units in options and files.

use std::fs;
use std::path::Path;

use crate::support::{good_on, run_on};

const SCHEMA: &str = r#"
array_type = "sparse"
[[dimension]]
name = "day"
datatype = "datetime_day"
domain = [-5000000000, 5000000000]
tile_extent = 1000
[[attribute]]
name = "at"
datatype = "datetime_ms"
nullable = true
[[attribute]]
name = "year"
datatype = "datetime_year"
"#;

const ROWS: &str = r#"{"day":"2015-12-31","at":"2023-12-31T23:59:59.999","year":2015}
{"day":"2016-01-01","at":"2024-01-01","year":"2016"}
{"day":"2018-12-31","at":1700000000000,"year":"8030Y"}
{"day":"4000000000D","at":null,"year":54}
{"day":"-4000000000D","at":"253402300800000ms","year":"NaT"}
"#;

/// Returns an array of these rows in a new folder.
fn imported(folder: &Path, rows: &str, format: &str) -> std::path::PathBuf {
    let [schema, file, array] = ["schema.toml", "rows", format].map(|name| folder.join(name));
    fs::write(&schema, SCHEMA).unwrap();
    fs::write(&file, rows).unwrap();
    good_on(&["import", "@", "@", "--format", format, "--schema", "@"], &[&array, &file, &schema]);
    array
}

#[test]
fn four_digits_are_a_year_wherever_cells_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let array = imported(folder.path(), ROWS, "jsonl");
    let days = |more: &[&str]| -> Vec<String> {
        let words = [&["read", "@", "--select", "day", "--format", "csv", "--order", "row-major"], more].concat();
        good_on(&words, &[&array]).lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(days(&["--range", "day=2016..2018"]), ["2016-01-01", "2018-12-31"]);
    assert_eq!(days(&["--range", "day=2015"]), ["2015-12-31"]);
    assert_eq!(days(&["--range", "day=16801D..17896D"]), ["2016-01-01", "2018-12-31"]);
    assert_eq!(days(&["--where", "at < 2024"]), ["2015-12-31", "2018-12-31"]);
    assert_eq!(days(&["--where", "at = 2024"]), ["2016-01-01"]);
    assert_eq!(days(&["--where", "not (at in (2023, 2024))"]), ["-4000000000D"]);
    assert_eq!(days(&["--where", "at >= 1704067200000ms and at < 9999"]), ["2016-01-01"]);
    assert_eq!(days(&["--where", "year = 2024 and day > 2018"]), ["4000000000D"]);
    let points = folder.path().join("points.csv");
    fs::write(&points, "day\n2016\n4000000000D\n").unwrap();
    assert_eq!(days(&["--points", points.to_str().unwrap()]), ["2016-01-01", "4000000000D"]);
}

#[test]
fn numbers_that_look_like_dates_are_refused_with_both_readings() {
    let folder = tempfile::tempdir().unwrap();
    let array = imported(folder.path(), ROWS, "jsonl");
    for words in [
        ["read", "@", "--range", "day=20160101..20181231"],
        ["read", "@", "--where", "day < 20160101"],
        ["read", "@", "--where", "day in (7, 20160101)"],
        ["info", "@", "--at", "20160101"],
        ["info", "@", "--between", "20160101.."],
        ["delete", "@", "--fragments", "20160101.."],
    ] {
        let run = run_on(&words, &[&array]).exits(2);
        let unit = if words[2] == "--range" || words[2] == "--where" { "D for days" } else { "ms for milliseconds" };
        assert!(run.stderr.contains(&format!("write a date as in 2024-05-01, or 20160101{unit} since 1970")), "{run}");
    }
    let file = folder.path().join("more.csv");
    fs::write(&file, "day,at,year\n2019-01-01,2024,2019\n").unwrap();
    let run = run_on(&["import", "@", file.to_str().unwrap()], &[&array]);
    assert!(run.code != Some(0) && run.stderr.contains("\"2024\" covers several values of datetime_ms"), "{run}");
}

#[test]
fn dates_without_an_iso_form_go_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let array = imported(folder.path(), ROWS, "jsonl");
    let read = |array: &Path, format| good_on(&["read", "@", "--format", format, "--order", "row-major"], &[array]);
    let printed = read(&array, "jsonl");
    for shown in [r#""day":"-4000000000D""#, r#""at":"253402300800000ms""#, r#""year":"8030Y""#, r#""year":"2024""#] {
        assert!(printed.contains(shown), "{printed}");
    }
    for format in ["jsonl", "csv"] {
        let other = tempfile::tempdir().unwrap();
        assert_eq!(read(&imported(other.path(), &read(&array, format), format), "jsonl"), printed);
    }
}

//! Tests of dense arrays with a large domain and few written cells.

use std::fs;
use std::path::Path;

use crate::support::good as printed;

const SCHEMA: &str = r#"
array_type = "dense"

[[dimension]]
name = "x"
datatype = "int64"
domain = [0, 1099511627775]
tile_extent = 16

[[attribute]]
name = "a"
datatype = "int32"
fill = -1
"#;

/// Returns an array of 2^40 cells, of which 7 and 9 are written.
fn hardly_written(folder: &Path) -> String {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::write(folder.join("schema.toml"), SCHEMA).unwrap();
    printed(["create", &path("array"), "--schema", &path("schema.toml")]);
    for (at, value) in [(7, 5), (9, 6)] {
        fs::write(folder.join("cells.csv"), format!("x,a\n{at},{value}\n")).unwrap();
        printed(["import", &path("array"), &path("cells.csv")]);
    }
    path("array")
}

#[test]
fn exports_and_conditions_cover_the_box_around_all_written_cells() {
    let folder = tempfile::tempdir().unwrap();
    let array = hardly_written(folder.path());
    let exported = |name: &str, more: &[&str]| {
        let file = folder.path().join(name);
        printed([&["export", &array, file.to_str().unwrap()], more].concat());
        fs::read_to_string(file).unwrap()
    };
    assert_eq!(exported("written.csv", &[]), "x,a\n7,5\n8,-1\n9,6\n");
    assert_eq!(exported("range.csv", &["--range", "x=6..8"]), "x,a\n6,-1\n7,5\n8,-1\n");
    assert_eq!(exported("condition.csv", &["--where", "a > 0"]), "x,a\n7,5\n9,6\n");
    let read = |more: &[&str]| printed([&["read", &array, "--format", "csv"], more].concat());
    assert_eq!(read(&["--where", "a > 0"]), "x,a\n7,5\n9,6\n");
    assert_eq!(read(&["--where", "a > 0", "--all"]), "x,a\n7,5\n9,6\n");
    assert_eq!(read(&["--where", "a < 0"]), "x,a\n8,-1\n");
    assert_eq!(read(&["--where", "a < 0", "--range", "x=8..10"]), "x,a\n8,-1\n10,-1\n");
    assert_eq!(read(&["--where", "x > 7"]), "x,a\n8,-1\n9,6\n");
    assert_eq!(read(&["--where", "a < 0", "--all", "--limit", "2"]), "x,a\n0,-1\n1,-1\n");
    let counted = |more: &[&str]| printed([&["agg", &array, "--count", "--format", "csv"], more].concat());
    assert_eq!(counted(&["--where", "a < 0"]), "count\n1\n");
    assert_eq!(counted(&["--where", "a < 0", "--all"]), "count\n1099511627774\n");
    assert_eq!(counted(&["--where", "x > 7"]), "count\n2\n");
    assert_eq!(counted(&[]), "count\n1099511627776\n");
    let summary = printed(["stats", &array, "--where", "a > 0", "--format", "jsonl"]);
    assert!(summary.contains(r#""values":2"#), "{summary}");
}

#[test]
fn nothing_is_exported_of_an_array_without_fragments() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(folder.path().join("schema.toml"), SCHEMA).unwrap();
    printed(["create", &path("array"), "--schema", &path("schema.toml")]);
    printed(["export", &path("array"), &path("cells.csv")]);
    assert_eq!(fs::read_to_string(folder.path().join("cells.csv")).unwrap(), "x,a\n");
    assert_eq!(printed(["read", &path("array"), "--where", "a < 0", "--format", "csv"]), "x,a\n");
}

#[test]
fn ranges_that_overlap_give_each_cell_once() {
    let folder = tempfile::tempdir().unwrap();
    let array = hardly_written(folder.path());
    let ranges = ["--range", "x=8..9", "--range", "x=7..8", "--range", "x=8", "--range", "x=8..9"];
    for order in ["row-major", "col-major", "unordered", "global"] {
        let cells = printed([&["read", &array, "--format", "csv", "--order", order][..], &ranges].concat());
        assert_eq!(cells, "x,a\n7,5\n8,-1\n9,6\n", "{order}");
    }
    let sparse = "v22-by-2.30.0-sparse-2d/array";
    let once = ["--range", "y=-10..3"];
    let several = ["--range", "y=-5..3", "--range", "y=-10..0", "--range", "y=-10..-10", "--range", "y=-10..0"];
    for order in ["row-major", "col-major", "unordered", "global"] {
        let cells =
            |ranges: &[&str]| printed([&["read", sparse, "--format", "csv", "--order", order][..], ranges].concat());
        assert_eq!(cells(&several), cells(&once), "{order}");
    }
}

//! Tests of the output of `tdb info`, `schema`, `fragments` and `ls` in each format.

use crate::support::{Copy, Key, run, tdb};
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const STRINGS: &str = "v22-by-2.30.0-sparse-strings/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";
const ENUMERATIONS: &str = "v22-by-2.30.0-dense-enumerations/array";

#[test]
fn info() {
    assert_snapshot!("info", run(&format!("info {SPARSE}")));
    assert_snapshot!("info_json", run(&format!("info {SPARSE} --format json")));
    assert_snapshot!("info_strings", run(&format!("info {STRINGS}")));
    assert_snapshot!("info_dates", run(&format!("info {DATES}")));
    assert_snapshot!("info_empty", run("info v22-by-2.30.0-sparse-empty/array"));
    assert_snapshot!("info_current_domain", run("info v22-by-2.30.0-sparse-current-domain/array"));
}

#[test]
fn a_bare_path_is_info() {
    assert_eq!(run(SPARSE).stdout, run(&format!("info {SPARSE}")).stdout);
    run(&format!("--color never {SPARSE} --format json")).prints(&run(&format!("info {SPARSE} --format json")).stdout);
    let fixture = tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-2d");
    let uri = format!("file://{}", fixture.array_dir().canonicalize().unwrap().display());
    assert_eq!(tdb(["schema", &uri]).stdout, run(&format!("schema {SPARSE}")).stdout);
}

#[test]
fn info_on_a_group() {
    assert_snapshot!("info_group", run("v22-by-2.30.0-group/group"));
    assert_snapshot!("info_group_json", run("info v22-by-2.30.0-group/group --format json"));
    assert_snapshot!("info_group_empty", run("v22-by-2.30.0-group-empty/group"));
}

#[test]
fn schema() {
    assert_snapshot!("schema", run(&format!("schema {SPARSE}")));
    assert_snapshot!("schema_json", run(&format!("schema {SPARSE} --format json")));
    assert_snapshot!("schema_enumerations", run(&format!("schema {ENUMERATIONS} --values 2")));
    assert_snapshot!("schema_enumerations_json", run(&format!("schema {ENUMERATIONS} --format json --values 3")));
    assert_snapshot!("schema_labels", run("schema v22-by-2.30.0-dense-labels/array"));
    assert_snapshot!("schema_filters", run("schema v22-by-2.30.0-dense-filters/array"));
    assert_snapshot!("schema_fill_values", run("schema v22-by-2.30.0-dense-every-datatype-nullable/array"));
}

#[test]
fn fragments() {
    for format in ["table", "json", "jsonl", "csv"] {
        assert_snapshot!(format!("fragments_{format}"), run(&format!("fragments {SPARSE} --format {format}")));
    }
    assert_snapshot!("fragments_strings", run(&format!("fragments {STRINGS} --format table")));
    assert_snapshot!("fragments_none", run("fragments v22-by-2.30.0-sparse-empty/array --format table"));
    assert_snapshot!("fragments_replaced", run("fragments v22-by-2.30.0-sparse-consolidated/array --replaced"));
    // JSON lines are the default for a pipe.
    assert_eq!(run(&format!("fragments {SPARSE}")).stdout, run(&format!("fragments {SPARSE} --format jsonl")).stdout);
}

/// Compares every fragment of every fixture with the report of the reference library.
#[test]
fn fragments_are_those_that_the_reference_library_sees() {
    for fixture in tdb_testkit::fixtures::all() {
        let expected = fixture.expected();
        if expected.fragments.is_empty() {
            continue;
        }
        let key = expected.encryption_key.as_ref().map(|key| Key::new(key.as_bytes()));
        let array = fixture.array_dir();
        let mut words = vec!["fragments".to_owned(), array.to_string_lossy().into_owned()];
        words.extend(key.iter().flat_map(Key::words));
        let run = tdb(words);
        assert_eq!(run.code, Some(0), "{}: {}", fixture.name(), run.stderr);
        let rows: Vec<serde_json::Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows.len(), expected.fragments.len(), "{}", fixture.name());
        for (row, fragment) in rows.iter().zip(&expected.fragments) {
            assert_eq!(row["name"], fragment.name, "{}", fixture.name());
            assert_eq!(row["version"], fragment.format_version);
            assert_eq!(row["type"], if fragment.dense { "dense" } else { "sparse" });
            if let Some(tiles) = fragment.tiles {
                assert_eq!(row["tiles"], tiles);
                assert_eq!(row["cells"], fragment.cells);
            }
        }
    }
}

#[test]
fn fragments_within_a_time_range() {
    let rows = |options: &str| run(&format!("fragments {SPARSE} {options}")).stdout.lines().count();
    assert_eq!((rows(""), rows("--at 1700000000000"), rows("--at 2023-11-14T22:13:19.999Z")), (2, 1, 0));
    assert_eq!(rows("--between 2023-11-14T22:13:21Z..2023-11-14T22:13:21Z"), 1);
    assert_eq!(rows("--between ..2023-11"), 2);
    assert_snapshot!("time_unknown", run(&format!("fragments {SPARSE} --at yesterday")));
    assert_snapshot!("time_twice", run(&format!("fragments {SPARSE} --at 1 --between 1..2")));
    assert_snapshot!("info_at", run(&format!("info {SPARSE} --at 1700000000000")));
}

#[test]
fn meta() {
    for format in ["table", "json", "jsonl", "csv"] {
        let line = format!("meta v22-by-2.30.0-dense-metadata/array --format {format}");
        assert_snapshot!(format!("meta_{format}"), run(&line));
    }
    assert_snapshot!("meta_at", run("meta v22-by-2.30.0-dense-metadata/array --at 1700000000000"));
    assert_snapshot!("meta_key", run("meta v22-by-2.30.0-dense-metadata/array --key list --key number --format table"));
    assert_snapshot!("meta_group", run("meta v22-by-2.30.0-group/group"));
    assert_snapshot!("meta_folder", run("meta v22-by-2.30.0-group"));
}

#[test]
fn tree() {
    const GROUP: &str = "v22-by-2.30.0-group/group";
    for format in ["table", "jsonl"] {
        assert_snapshot!(format!("tree_{format}"), run(&format!("tree {GROUP} --format {format}")));
    }
    assert_snapshot!("tree_one_level", run(&format!("tree {GROUP} --format csv --depth 1 --at 1700000000000")));
    assert_snapshot!("tree_array", run(&format!("tree {GROUP}/two")));
}

#[test]
fn enumerations() {
    for format in ["table", "json", "csv"] {
        assert_snapshot!(
            format!("enumerations_{format}"),
            run(&format!("enumerations {ENUMERATIONS} --format {format}"))
        );
    }
    assert_snapshot!("enumeration_values", run(&format!("enumerations {ENUMERATIONS} colours --format table")));
    assert_snapshot!("enumeration_numbers", run(&format!("enumerations {ENUMERATIONS} rates")));
    assert_snapshot!("enumeration_unknown", run(&format!("enumerations {ENUMERATIONS} colors")));
}

#[test]
fn ls() {
    let copy = Copy::of("v22-by-2.30.0-group");
    for format in ["table", "json", "jsonl", "csv"] {
        assert_snapshot!(format!("ls_{format}"), copy.run("ls", "", &format!("--recursive --format {format}")));
    }
    assert_snapshot!("ls_one_level", copy.run("ls", "", "--format table"));
    assert_snapshot!("ls_arrays", copy.run("ls -r --kind array", "", "--format csv"));
    assert_snapshot!("ls_array_itself", copy.run("ls", "group/one", "--format table"));
}

#[cfg(unix)]
#[test]
fn ls_does_not_follow_links_in_circles() {
    let copy = Copy::of("v22-by-2.30.0-group-empty");
    std::os::unix::fs::symlink(copy.path(), copy.path().join("circle")).unwrap();
    std::os::unix::fs::symlink("nowhere", copy.path().join("dangling")).unwrap();
    assert_snapshot!("ls_links", copy.run("ls --recursive", "", "--format table"));
}

//! Tests of the output of `tdb info`, `schema`, `fragments` and `ls` in each format.

use crate::support::{Copy, Key, Transcript, run, tdb};
use insta::assert_snapshot;

const SPARSE: &str = "v22-by-2.30.0-sparse-2d/array";
const STRINGS: &str = "v22-by-2.30.0-sparse-strings/array";
const DATES: &str = "v22-by-2.30.0-dense-datetime/array";
const ENUMERATIONS: &str = "v22-by-2.30.0-dense-enumerations/array";

#[test]
fn info() {
    let mut seen = Transcript::default();
    seen.run(&format!("info {SPARSE}"));
    seen.run(&format!("info {SPARSE} --format json"));
    seen.run(&format!("info {STRINGS}"));
    seen.run(&format!("info {DATES}"));
    seen.run("info v22-by-2.30.0-sparse-empty/array");
    seen.run("info v22-by-2.30.0-sparse-current-domain/array");
    assert_snapshot!("info", seen);
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
    let mut seen = Transcript::default();
    seen.run("v22-by-2.30.0-group/group");
    seen.run("info v22-by-2.30.0-group/group --format json");
    seen.run("v22-by-2.30.0-group-empty/group");
    assert_snapshot!("info_on_a_group", seen);
}

#[test]
fn schema() {
    let mut seen = Transcript::default();
    seen.run(&format!("schema {SPARSE}"));
    seen.run(&format!("schema {SPARSE} --format json"));
    seen.run(&format!("schema {ENUMERATIONS} --values 2"));
    seen.run(&format!("schema {ENUMERATIONS} --format json --values 3"));
    seen.run("schema v22-by-2.30.0-dense-labels/array");
    seen.run("schema v22-by-2.30.0-dense-filters/array");
    seen.run("schema v22-by-2.30.0-dense-every-datatype-nullable/array");
    assert_snapshot!("schema", seen);
}

#[test]
fn fragments() {
    let mut seen = Transcript::default();
    for format in ["table", "json", "jsonl", "csv"] {
        seen.run(&format!("fragments {SPARSE} --format {format}"));
    }
    seen.run(&format!("fragments {STRINGS} --format table"));
    seen.run("fragments v22-by-2.30.0-sparse-empty/array --format table");
    seen.run("fragments v22-by-2.30.0-sparse-consolidated/array --replaced");
    // JSON lines are the default for a pipe.
    assert_eq!(run(&format!("fragments {SPARSE}")).stdout, run(&format!("fragments {SPARSE} --format jsonl")).stdout);
    assert_snapshot!("fragments", seen);
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
    let mut seen = Transcript::default();
    let rows = |options: &str| run(&format!("fragments {SPARSE} {options}")).stdout.lines().count();
    assert_eq!((rows(""), rows("--at 1700000000000"), rows("--at 2023-11-14T22:13:19.999Z")), (2, 1, 0));
    assert_eq!(rows("--between 2023-11-14T22:13:21Z..2023-11-14T22:13:21Z"), 1);
    assert_eq!(rows("--between ..2023-11"), 2);
    seen.run(&format!("fragments {SPARSE} --at yesterday"));
    seen.run(&format!("fragments {SPARSE} --at 1 --between 1..2"));
    seen.run(&format!("info {SPARSE} --at 1700000000000"));
    assert_snapshot!("fragments_within_a_time_range", seen);
}

#[test]
fn meta() {
    let mut seen = Transcript::default();
    for format in ["table", "json", "jsonl", "csv"] {
        let line = format!("meta v22-by-2.30.0-dense-metadata/array --format {format}");
        seen.run(&line);
    }
    seen.run("meta v22-by-2.30.0-dense-metadata/array --at 1700000000000");
    seen.run("meta v22-by-2.30.0-dense-metadata/array --key list --key number --format table");
    seen.run("meta v22-by-2.30.0-group/group");
    seen.run("meta v22-by-2.30.0-group");
    assert_snapshot!("meta", seen);
}

#[test]
fn tree() {
    let mut seen = Transcript::default();
    const GROUP: &str = "v22-by-2.30.0-group/group";
    for format in ["table", "jsonl"] {
        seen.run(&format!("tree {GROUP} --format {format}"));
    }
    seen.run(&format!("tree {GROUP} --format csv --depth 1 --at 1700000000000"));
    seen.run(&format!("tree {GROUP}/two"));
    assert_snapshot!("tree", seen);
}

#[test]
fn enumerations() {
    let mut seen = Transcript::default();
    for format in ["table", "json", "csv"] {
        seen.run(&format!("enumerations {ENUMERATIONS} --format {format}"));
    }
    seen.run(&format!("enumerations {ENUMERATIONS} colours --format table"));
    seen.run(&format!("enumerations {ENUMERATIONS} rates"));
    seen.run(&format!("enumerations {ENUMERATIONS} colors"));
    assert_snapshot!("enumerations", seen);
}

#[test]
fn ls() {
    let mut seen = Transcript::default();
    let copy = Copy::of("v22-by-2.30.0-group");
    for format in ["table", "json", "jsonl", "csv"] {
        seen.add(copy.run("ls", "", &format!("--recursive --format {format}")));
    }
    seen.add(copy.run("ls", "", "--format table"));
    seen.add(copy.run("ls -r --kind array", "", "--format csv"));
    // In a table, the width of the line depends on the length of the temporary path.
    seen.add(copy.run("ls", "group/one", "--format csv"));
    assert_snapshot!("ls", seen);
}

#[cfg(unix)]
#[test]
fn ls_does_not_follow_links_in_circles() {
    let copy = Copy::of("v22-by-2.30.0-group-empty");
    std::os::unix::fs::symlink(copy.path(), copy.path().join("circle")).unwrap();
    std::os::unix::fs::symlink("nowhere", copy.path().join("dangling")).unwrap();
    assert_snapshot!("ls_links", copy.run("ls --recursive", "", "--format table"));
}

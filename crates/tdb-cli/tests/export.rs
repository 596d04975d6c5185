//! `tdb export`: files hold what `tdb read` prints, and half a file is none.

#![allow(clippy::unwrap_used)] // helpers of tests may panic

mod support;

use std::fs;

use support::tdb;

const ARRAY: &str = "v22-by-2.30.0-sparse-2d/array";

#[test]
fn files_hold_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let which: [&[&str]; 3] =
        [&[], &["--select", "x,s", "--where", "x > 20"], &["--range", "y=-10..-7", "--order", "col-major"]];
    for (number, which) in which.into_iter().enumerate() {
        for format in ["csv", "jsonl", "json"] {
            let file = folder.path().join(format!("{number}.{format}"));
            let name = file.to_str().unwrap();
            let run = tdb([&["export", ARRAY, name], which].concat());
            assert_eq!(run.code, Some(0), "{run}");
            let printed = tdb([&["read", ARRAY, "--format", format], which].concat());
            assert_eq!(fs::read_to_string(&file).unwrap(), printed.stdout);
            assert!(run.stdout.is_empty() && run.stderr.ends_with("cells written\n"), "{run}");
        }
    }
}

#[test]
fn the_kind_of_file_may_be_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let run = tdb(["export", ARRAY, &path("cells"), "--format", "CSV", "--option", "null=none"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(fs::read(path("cells")).unwrap().first_chunk(), Some(b"y,x,"));
    for (name, more, code, says) in [
        ("other", "", 2, "hint: let it end with .csv"),
        ("a.parquet", "", 4, "hint: export CSV; or try the full tdb"),
        ("a", "--format arrow", 4, "the full tdb"),
        ("a.csv", "--option compression=zstd", 2, "they know null"),
        ("a.csv", "--option raw=maybe", 2, "true or false"),
        ("a.csv", "--option raw", 2, "NAME=VALUE"),
        ("cells", "--format csv", 5, "hint: choose another name"),
        ("no/such/folder.csv", "", 5, "not found"),
    ] {
        let path = path(name);
        let run = tdb(["export", ARRAY, &path].into_iter().chain(more.split_whitespace()));
        assert_eq!(run.code, Some(code), "{run}");
        assert!(run.stderr.contains(says), "{run}");
    }
    let run = tdb(["export", ARRAY, "s3://bucket/a.csv"]);
    assert!(run.code == Some(4) && run.stderr.contains("s3://"), "{run}");
    let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["cells"]);
}

#[test]
fn an_array_that_ends_early_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("array");
    tdb_testkit::fixtures::named("v22-by-2.30.0-sparse-2d").unpack_into(&array);
    let array = if array.join("array").is_dir() { array.join("array") } else { array };
    let fragment = array.join("__fragments").read_dir().unwrap().next().unwrap().unwrap().path();
    let data = fragment.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let data = data.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("a0"));
    for path in data {
        fs::write(&path, vec![0xa5; usize::try_from(path.metadata().unwrap().len()).unwrap()]).unwrap();
    }
    let file = folder.path().join("cells.csv");
    let run = tdb(["export", array.to_str().unwrap(), file.to_str().unwrap()]);
    assert_eq!(run.code, Some(3), "{run}");
    assert!(!file.exists(), "{run}");
}

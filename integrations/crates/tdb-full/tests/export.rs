//! The full command: what it adds, and that the rest is there.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs::File;
use std::process::{Command, Output};

use tdb_testkit::fixtures;

fn tdb(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tdb")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn cells_are_exported() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.arrow");
    let file = path.to_str().unwrap();
    let run = tdb(&["export", array, file, "--select", "x,s", "--where", "x > 20", "--stats"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("read"), "{}", text(&run.stderr));
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(&path).unwrap(), None).unwrap();
    assert!(reader.schema().metadata().contains_key("tdb.schema"));
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    let csv = tdb(&["read", array, "--select", "x,s", "--where", "x > 20", "--format", "csv"]);
    assert_eq!(text(&csv.stdout).lines().count(), rows + 1);
    assert!(rows > 0);

    // What is there is never overwritten, and what failed leaves nothing.
    let again = tdb(&["export", array, file]);
    assert_eq!(again.status.code(), Some(5), "{}", text(&again.stderr));
    assert_eq!(tdb(&["export", array, "cells.parquet"]).status.code(), Some(2));
    assert_eq!(tdb(&["export", "no/such/array", file]).status.code(), Some(5));
    assert_eq!(tdb(&["export", array, file, "--where", "x >"]).status.code(), Some(2));
    let fixture = fixtures::named("v22-by-2.30.0-dense-every-datatype-var");
    let other = folder.path().join("other.arrow");
    let refused = tdb(&["export", fixture.array_dir().to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(4), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("cell 0, field") && !other.exists(), "{}", text(&refused.stderr));
}

#[test]
fn the_other_commands_are_there() {
    let fixture = fixtures::named("v22-by-2.30.0-sparse-2d");
    let array = fixture.array_dir().to_str().unwrap();
    for arguments in [&[array][..], &["schema", array], &["verify", array]] {
        assert!(tdb(arguments).status.success(), "{arguments:?}");
    }
    let help = text(&tdb(&["--help"]).stdout);
    assert!(help.contains("export") && help.contains("consolidate"), "{help}");
    let completions = text(&tdb(&["completions", "bash"]).stdout);
    assert!(completions.contains("export"));
    // It is the full one, and doesn't send anybody to it.
    let refused = tdb(&["read", "s3://bucket/array"]);
    assert_eq!(refused.status.code(), Some(4));
    assert!(!text(&refused.stderr).contains("cargo install"), "{}", text(&refused.stderr));
}

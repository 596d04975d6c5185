use std::fs;

use super::pending::{InSource, Pending, for_storage};
use super::{accept, find, reject, with_snapshots};

const STORED: &str = "---\nsource: tests/a.rs\nexpression: a\n---\none\ntwo\n";
const NEW: &str = "---\nsource: tests/a.rs\nassertion_line: 7\nexpression: a\n---\none\nassertion_line: 7\n---\n";

#[test]
fn pending_snapshots_are_found_shown_and_stored() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("crates/some-crate/tests/snapshots");
    let elsewhere = root.path().join("target/tests");
    for folder in [&folder, &elsewhere] {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("a.snap"), STORED).expect("written");
        fs::write(folder.join("a.snap.new"), NEW).expect("written");
    }
    fs::write(folder.join("b.snap.new"), NEW).expect("written");
    let (pending, in_source) = find(root.path(), None).expect("found");
    assert_eq!((pending.len(), in_source.len()), (2, 0));
    assert_eq!(find(root.path(), Some("/b.")).expect("found").0.len(), 1);
    let difference = pending[0].difference().expect("read");
    assert_eq!(difference, "--- stored\n+++ new\n@@ -1,2 +1,3 @@\n one\n-two\n+assertion_line: 7\n+---\n");

    accept(root.path(), Some("a.snap")).expect("stored");
    let stored = fs::read_to_string(folder.join("a.snap")).expect("there");
    assert_eq!(stored, "---\nsource: tests/a.rs\nexpression: a\n---\none\nassertion_line: 7\n---\n");
    assert!(!folder.join("a.snap.new").exists() && folder.join("b.snap.new").exists());
    assert!(elsewhere.join("a.snap.new").exists());

    reject(root.path(), None).expect("removed");
    assert!(!folder.join("b.snap.new").exists() && !folder.join("b.snap").exists());
    assert_eq!(with_snapshots(root.path()).expect("found"), ["some-crate"]);
}

#[test]
fn stored_snapshots_stay_unchanged() {
    assert_eq!(for_storage(STORED), STORED);
    assert_eq!(for_storage("no header\n"), "no header\n");
}

#[test]
fn inline_snapshots_are_found_and_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join(".errors.rs.pending-snap");
    let lines = concat!(
        r#"{"run_id":"1-2","line":37,"new":{"module_name":"m","snapshot_name":"s","metadata":{},"snapshot":"no filters"},"old":{}}"#,
        "\n",
        r#"{"run_id":"1-2","line":40,"new":null,"old":null}"#,
        "\n"
    );
    fs::write(&path, lines).expect("written");
    let read = InSource::read(path.clone()).expect("read");
    assert_eq!(read.snapshots, [(37, "no filters".to_owned())]);
    assert_eq!(read.source(), root.path().join("errors.rs"));
    accept(root.path(), None).expect_err("inline snapshots cannot be stored");
    assert!(path.exists());
}

#[test]
fn a_pending_snapshot_is_stored_under_its_name() {
    assert_eq!(Pending("a/b.c.snap.new".into()).stored(), std::path::Path::new("a/b.c.snap"));
}

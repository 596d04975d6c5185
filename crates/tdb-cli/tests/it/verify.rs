//! Tests of `tdb verify` on intact and damaged arrays.

use std::fs;

use crate::support::{Copy, Key, run, tdb};
use serde_json::Value;
use tdb_testkit::fixtures;

const ARRAY: &str = "v22-by-2.30.0-sparse-2d";

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn sound_arrays_and_groups() {
    let good = run("verify v22-by-2.30.0-sparse-2d/array v22-by-2.30.0-group/group");
    assert_eq!((good.code, good.stdout.as_str(), good.stderr.as_str()), (Some(0), "", ""), "{good}");
    let table = run("verify v22-by-2.30.0-dense-2d-row-row --format table").exits(0);
    assert!(table.stdout.starts_with("1 array, ") && table.stdout.ends_with(": no problems found\n"), "{table}");
    // An oddity is a note, not a finding.
    let odd = run("verify v22-by-2.30.0-sparse-unsorted/array").exits(0);
    let notes = rows(&odd.stdout);
    assert!(!notes.is_empty() && notes.iter().all(|note| note["severity"] == "note"), "{odd}");
    assert_eq!(notes[0]["kind"], "cell-order");
    assert_eq!(run("verify v22-by-2.30.0-sparse-unsorted/array --quiet").stdout, "");
    let stats = run("verify v22-by-2.30.0-sparse-2d/array --stats");
    assert!(stats.stderr.contains(" reads, ") && !stats.stderr.contains(" 0 reads"), "{stats}");
}

#[test]
fn a_changed_cell_is_found_by_statistics() {
    // An array without filters, whose checksums would also reveal the change.
    let copy = Copy::of("v22-by-2.30.0-dense-2d-row-row");
    let file = copy.find("array/__fragments", "/a0.tdb");
    let (bytes, read) = (fs::read(&file).unwrap(), || copy.run("read", "array", "--format=csv"));
    let sound = read().stdout;
    // A change of a padding cell is invisible to readers.
    let changes = (20..bytes.len()).find(|at| {
        let mut changed = bytes.clone();
        changed[*at] ^= 1;
        fs::write(&file, changed).unwrap();
        let now = read();
        now.code == Some(0) && now.stdout != sound
    });
    assert!(changes.is_some(), "readers do not notice the changed cell");
    let found = copy.run("verify", "array", "").exits(1);
    let rows = rows(&found.stdout);
    assert!(rows.iter().any(|row| row["kind"] == "sum" && row["field"] == "a" && row["tile"].is_u64()), "{found}");
    assert!(rows.iter().all(|row| row["what"].as_str().unwrap().starts_with("stored ")), "{found}");
    assert!(found.stderr.starts_with("tdb: error: COPY/array: ") && found.stderr.contains(" findings"), "{found}");
    let table = copy.run("verify", "array", "--format table");
    assert!(table.stdout.ends_with(": problems found\n"), "{table}");
}

#[test]
fn files_that_are_cut_or_gone_are_found() {
    let copy = Copy::of(ARRAY);
    let (cut, gone) = (copy.find("array/__fragments", "/a0.tdb"), copy.find("array/__commits", ".wrt"));
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
    let found = copy.run("verify", "array", "").exits(1);
    assert!(rows(&found.stdout).iter().any(|row| row["kind"] == "file-size"), "{found}");
    fs::write(&cut, &bytes).unwrap();
    fs::remove_file(&gone).unwrap();
    let found = copy.run("verify", "array", "");
    assert_eq!((found.code, &rows(&found.stdout)[0]["kind"]), (Some(1), &Value::from("uncommitted")), "{found}");
}

#[test]
fn digests_find_what_nothing_else_shows() {
    let copy = Copy::of(ARRAY);
    let digest = copy.at("digest.sha256");
    let verify = || copy.run("verify", "array", &format!("--digest {digest}"));
    assert_eq!(verify().code, Some(0));
    let lines = fs::read_to_string(&digest).unwrap().lines().count();
    assert_eq!(lines, fixtures::named(ARRAY).array_files().count());
    assert_eq!(verify().code, Some(0));
    let commit = copy.find("array/__commits", ".wrt");
    fs::write(&commit, b"bytes that nobody reads").unwrap();
    fs::write(copy.path().join("array/other"), b"").unwrap();
    let found = verify();
    let changes: Vec<_> =
        rows(&found.stdout).into_iter().map(|row| (row["severity"].clone(), row["kind"].clone())).collect();
    let expected = [("finding", "changed"), ("note", "new")].map(|(a, b)| (Value::from(a), Value::from(b)));
    assert_eq!((found.code, &changes[..]), (Some(1), &expected[..]), "{found}");
    fs::remove_file(&commit).unwrap();
    assert!(rows(&verify().stdout).iter().any(|row| row["kind"] == "missing"));
    fs::write(&digest, "no digest").unwrap();
    assert_eq!(verify().code, Some(2));
    let inside = copy.at("array/digest");
    assert_eq!(copy.run("verify", "array", &format!("--digest {inside}")).code, Some(2));
}

#[test]
fn unreadable_targets_have_their_exit_codes() {
    assert_eq!(run("verify no/such/array").code, Some(5));
    assert_eq!(run("verify filters").code, Some(5), "a folder without arrays");
    assert_eq!(run("verify").code, Some(2));
    let array = "v22-by-2.30.0-sparse-encrypted/array";
    run(&format!("verify {array}")).exits(6);
    let key = Key::new(&fixtures::named("v22-by-2.30.0-sparse-encrypted").expected().key().unwrap());
    tdb(["verify".to_owned(), array.to_owned()].into_iter().chain(key.words())).exits(0);
}

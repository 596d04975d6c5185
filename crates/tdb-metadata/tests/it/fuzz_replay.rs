//! Replays the fuzz targets on their corpora and on damaged versions of these.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_damaged;

fn damaged(target: &str, body: fn(&[u8])) -> usize {
    replay_damaged(env!("CARGO_MANIFEST_DIR"), target, 2000, body)
}

#[test]
fn consolidated_commits() {
    assert!(damaged("commits", fuzz::commits) >= 2);
}

#[test]
fn path_lists() {
    assert!(damaged("paths", fuzz::paths) >= 3);
}

#[test]
fn metadata() {
    assert!(damaged("metadata", fuzz::metadata) >= 3);
}

#[test]
fn groups() {
    assert!(damaged("group", fuzz::group) >= 3);
}

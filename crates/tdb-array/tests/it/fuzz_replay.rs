//! Runs the fuzz targets on the stored corpus, and on damaged versions of it.

#[allow(unreachable_pub, clippy::expect_used)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::{replay_damaged, replay_mutated};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn directories() {
    assert!(replay_damaged(CRATE, "array_dir", 2000, fuzz::array_dir) >= 4);
}

#[test]
fn arrays() {
    assert!(replay_mutated(CRATE, "array_open", 200, fuzz::array_open) >= 4);
}

#[test]
fn parts_of_queries() {
    assert!(replay_damaged(CRATE, "query_part", 500, fuzz::query_part) >= 4);
}

#[test]
fn groups() {
    assert!(replay_mutated(CRATE, "group_open", 200, fuzz::group_open) >= 4);
}

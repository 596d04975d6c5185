//! The fuzz bodies, run on all stored inputs and on mutations of them.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_damaged;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn conditions() {
    assert!(replay_damaged(CRATE, "condition", 3000, fuzz::condition) >= 4);
}

#[test]
fn updates() {
    assert!(replay_damaged(CRATE, "update", 1000, fuzz::update) >= 1);
}

#[test]
fn texts() {
    assert!(replay_damaged(CRATE, "text", 3000, fuzz::text) >= 8);
}

//! Replays the fuzz target on the corpus and on damaged versions of the corpus.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_damaged;

#[test]
fn manifests() {
    assert!(replay_damaged(env!("CARGO_MANIFEST_DIR"), "manifest", 2000, fuzz::manifest) >= 4);
}

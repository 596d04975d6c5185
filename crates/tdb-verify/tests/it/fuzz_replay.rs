//! Runs the fuzz targets on all stored inputs and on damaged versions of them.

#[allow(unreachable_pub, clippy::expect_used)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_mutated;

#[test]
fn rebuilt_fragments() {
    assert!(replay_mutated(env!("CARGO_MANIFEST_DIR"), "rebuild", 200, fuzz::rebuild) >= 6);
}

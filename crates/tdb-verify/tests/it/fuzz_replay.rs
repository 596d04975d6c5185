//! Runs the fuzz targets on all stored inputs and on damaged versions of them.

#[allow(unreachable_pub, clippy::expect_used)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_target;

#[test]
fn rebuilt_fragments() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "rebuild", |data| {
        fuzz::rebuild(data);
        seeded_mutations(1, data, 200, fuzz::rebuild);
    });
    assert!(count >= 6, "{count} seeds");
}

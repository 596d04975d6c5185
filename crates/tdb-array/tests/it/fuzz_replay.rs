//! Runs the fuzz targets on the stored corpus, and on damaged versions of it.

#[allow(unreachable_pub, clippy::expect_used)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::{seeded_mutations, truncations};
use tdb_testkit::replay_target;

#[test]
fn directories() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "array_dir", |data| {
        fuzz::array_dir(data);
        seeded_mutations(1, data, 2000, fuzz::array_dir);
        truncations(data).for_each(fuzz::array_dir);
    });
    assert!(count >= 4, "{count} seeds");
}

#[test]
fn arrays() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "array_open", |data| {
        fuzz::array_open(data);
        seeded_mutations(1, data, 200, fuzz::array_open);
    });
    assert!(count >= 4, "{count} seeds");
}

#[test]
fn parts_of_queries() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "query_part", |data| {
        fuzz::query_part(data);
        seeded_mutations(1, data, 500, fuzz::query_part);
        truncations(data).for_each(fuzz::query_part);
    });
    assert!(count >= 4, "{count} seeds");
}

#[test]
fn groups() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "group_open", |data| {
        fuzz::group_open(data);
        seeded_mutations(1, data, 200, fuzz::group_open);
    });
    assert!(count >= 4, "{count} seeds");
}

//! The fuzz bodies, run on all stored inputs and on mutations of them.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::{seeded_mutations, single_byte_changes};
use tdb_testkit::replay_target;

#[test]
fn conditions() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "condition", |data| {
        fuzz::condition(data);
        single_byte_changes(data, fuzz::condition);
        seeded_mutations(1, data, 3000, fuzz::condition);
    });
    assert!(count >= 4, "{count} seeds");
}

#[test]
fn updates() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "update", |data| {
        fuzz::update(data);
        single_byte_changes(data, fuzz::update);
        seeded_mutations(2, data, 1000, fuzz::update);
    });
    assert!(count >= 1, "{count} seeds");
}

#[test]
fn texts() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "text", |data| {
        fuzz::text(data);
        single_byte_changes(data, fuzz::text);
        seeded_mutations(3, data, 3000, fuzz::text);
    });
    assert!(count >= 8, "{count} seeds");
}

//! The fuzz bodies over everything that was ever kept for them, and over damaged versions of it.

#[allow(unreachable_pub)]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::{seeded_mutations, single_byte_changes, truncations};
use tdb_testkit::replay_target;

fn damaged(target: &str, body: fn(&[u8])) -> usize {
    replay_target(env!("CARGO_MANIFEST_DIR"), target, |data| {
        body(data);
        truncations(data).for_each(body);
        single_byte_changes(data, body);
        seeded_mutations(1, data, 2000, body);
    })
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

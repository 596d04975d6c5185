//! The fuzz bodies, run on all stored inputs and on mutations of them.

#![cfg(feature = "all-codecs")]

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::{seeded_mutations, single_byte_changes, truncations};
use tdb_testkit::replay_target;

#[test]
fn tiles() {
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "generic_tile", |data| {
        fuzz::generic_tile(data);
        truncations(data).for_each(fuzz::generic_tile);
        single_byte_changes(data, fuzz::generic_tile);
        seeded_mutations(1, data, 500, fuzz::generic_tile);
    });
    assert!(count >= 8);
}

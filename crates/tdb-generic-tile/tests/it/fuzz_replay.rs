//! The fuzz bodies, run on all stored inputs and on mutations of them.

#![cfg(feature = "all-codecs")]

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_damaged;

#[test]
fn tiles() {
    assert!(replay_damaged(env!("CARGO_MANIFEST_DIR"), "generic_tile", 500, fuzz::generic_tile) >= 8);
}

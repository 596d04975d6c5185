//! The fuzz bodies, run on all stored inputs and on mutations of them.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_damaged;

fn damaged(target: &str, body: fn(&[u8])) -> usize {
    replay_damaged(env!("CARGO_MANIFEST_DIR"), target, 2000, body)
}

#[test]
fn schemas() {
    assert!(damaged("schema", fuzz::schema) >= 8);
}

#[test]
fn enumerations() {
    assert!(damaged("enumeration", fuzz::enumeration) >= 4);
}

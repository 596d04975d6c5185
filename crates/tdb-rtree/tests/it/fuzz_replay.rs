//! Replays the fuzz targets on their corpora and on damaged versions of these.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
pub(crate) mod fuzz;

use tdb_testkit::hostile::{seeded_mutations, single_byte_changes};
use tdb_testkit::{replay_damaged, replay_target};

#[test]
fn trees() {
    let mut small = Vec::new();
    let count = replay_target(env!("CARGO_MANIFEST_DIR"), "rtree", |data| {
        fuzz::rtree(data);
        seeded_mutations(1, data, 1000, fuzz::rtree);
        if data.len() < 200 {
            small.push(data.to_vec());
        }
    });
    assert!(count >= 10 && small.len() >= 3, "{count} seeds, {} of them small", small.len());
    for data in small {
        single_byte_changes(&data, fuzz::rtree);
    }
}

#[test]
fn ranges() {
    assert!(replay_damaged(env!("CARGO_MANIFEST_DIR"), "nd_range", 3000, fuzz::nd_range) >= 3);
}

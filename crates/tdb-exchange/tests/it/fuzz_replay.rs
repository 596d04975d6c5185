//! Runs the fuzz bodies on the corpus and on damaged copies of it.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_target;

fn replay(name: &str, body: fn(&[u8])) {
    let seeds = replay_target(env!("CARGO_MANIFEST_DIR"), name, |data| {
        body(data);
        seeded_mutations(1, data, 500, body);
    });
    assert!(seeds >= 4, "{name}: {seeds} seeds");
}

#[test]
fn texts() {
    replay("rows", fuzz::rows);
    replay("cell", fuzz::cell);
    replay("range", fuzz::range);
}

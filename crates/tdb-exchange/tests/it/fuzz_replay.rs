//! Runs the fuzz bodies on the corpus and on damaged copies of it.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::replay_mutated;

#[test]
fn texts() {
    for (name, body) in [("rows", fuzz::rows as fn(&[u8])), ("cell", fuzz::cell), ("range", fuzz::range)] {
        let seeds = replay_mutated(env!("CARGO_MANIFEST_DIR"), name, 500, body);
        assert!(seeds >= 4, "{name}: {seeds} seeds");
    }
}

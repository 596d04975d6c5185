//! Runs the fuzz body over the corpus, and over damaged versions of it.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_target;

#[test]
fn fuzz_body_accepts_corpus_and_damaged_inputs() {
    let seeds = replay_target(env!("CARGO_MANIFEST_DIR"), "import", |data| {
        fuzz::import(data);
        seeded_mutations(1, data, 40, fuzz::import);
    });
    assert!(seeds >= 30, "{seeds} seeds");
}

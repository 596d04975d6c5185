//! The fuzz body, run on all stored inputs and on mutations of them.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_target;

#[test]
fn schemas() {
    let seeds = replay_target(env!("CARGO_MANIFEST_DIR"), "schema", |data| {
        fuzz::schema(data);
        // Replaces bytes by digits and letters, because random bytes rarely yield valid TOML.
        for at in 0..data.len() {
            let mut changed = data.to_vec();
            for byte in *b"09-\"a[" {
                changed[at] = byte;
                fuzz::schema(&changed);
            }
        }
        seeded_mutations(1, data, 500, fuzz::schema);
    });
    assert!(seeds >= 6, "{seeds} seeds");
}

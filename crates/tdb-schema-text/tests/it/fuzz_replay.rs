//! The fuzz body over everything that was ever kept for it, and over damaged versions of it.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::replay_target;

#[test]
fn schemas() {
    let seeds = replay_target(env!("CARGO_MANIFEST_DIR"), "schema", |data| {
        fuzz::schema(data);
        // Digits and letters in the place of others give more that is still TOML than any byte would.
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

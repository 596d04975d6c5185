//! Runs the fuzz body over the corpus, over scans of plans, and over damaged versions of both.

#[allow(unreachable_pub)]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz;

use tdb_datafusion::{Opener, SessionOptions, TableOptions, session};
use tdb_testkit::hostile::seeded_mutations;
use tdb_testkit::{fixtures, replay_target};

use crate::support::{run, scans};

/// Returns serialized scans of fixtures. With `KEEP_SEEDS` in the environment, adds them to the
/// corpus.
async fn written() -> Vec<Vec<u8>> {
    let opener = Opener::new(|name| Ok(fixtures::named(name).array_storage()));
    let options = SessionOptions::new(opener).table(TableOptions::new().partitions(2));
    let session = session(options).unwrap();
    let mut all = Vec::new();
    for (name, sql) in [
        ("sparse", "SELECT * FROM 'v22-by-2.30.0-sparse-2d' WHERE x > 3 OR y < 0"),
        ("sparse_order", "SELECT x FROM 'v22-by-2.30.0-sparse-2d' ORDER BY x LIMIT 5"),
        ("dense", "SELECT a FROM 'v22-by-2.30.0-dense-2d-row-row' WHERE x BETWEEN 1 AND 3"),
        ("dense_order", "SELECT y, x FROM 'v22-by-2.30.0-dense-2d-row-row' ORDER BY y, x"),
    ] {
        let plan = session.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        let bytes = scans(&plan)[0].pieces().unwrap().to_bytes();
        if std::env::var_os("KEEP_SEEDS").is_some() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/scan_pieces");
            std::fs::write(format!("{folder}/{name}"), &bytes).unwrap();
        }
        all.push(bytes);
    }
    all
}

#[test]
fn fuzz_body_accepts_scans_and_damaged_scans() {
    let each = |data: &[u8]| {
        fuzz::scan_pieces(data);
        seeded_mutations(1, data, 200, fuzz::scan_pieces);
    };
    let written = run(written());
    written.iter().for_each(|bytes| each(bytes));
    let seeds = replay_target(env!("CARGO_MANIFEST_DIR"), "scan_pieces", each);
    assert!(seeds >= 4, "{seeds} seeds");
}

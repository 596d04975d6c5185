//! Runs the files in `tests/slt` of `tdb-datafusion` on a cluster.

#[path = "../../../../tdb-datafusion/tests/slt/engine.rs"]
mod engine;

use std::path::Path;

use tdb_ballista::session;
use tdb_ballista::tdb_datafusion::{Opener, SessionOptions, TableOptions};
use tokio::runtime::Runtime;

use super::processes::Processes;
use engine::{Engine, run_file};

#[test]
fn slt_files_pass_on_a_cluster() {
    let processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tdb-datafusion/tests/slt");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "slt"));
    let cluster = processes.cluster();
    let make = || {
        let options = SessionOptions::new(Opener::local()).table(TableOptions::new().partitions(2));
        Ok(Engine::named("cluster", session(options, &cluster)?))
    };
    let ran: usize = files.map(|file| runtime.block_on(run_file(&file, make))).sum();
    assert!(ran >= 100, "{ran}");
}

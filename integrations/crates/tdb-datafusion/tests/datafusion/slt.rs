//! Runs the files of `tests/slt` over arrays, and over the same cells in memory.

#[path = "../slt/engine.rs"]
mod engine;

use std::path::{Path, PathBuf};

use tdb_datafusion::TableOptions;

use crate::support::run;
use engine::{Engine, run_file};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|extension| extension == "slt")).collect();
    files.sort();
    files
}

#[test]
fn arrays_return_expected_rows() {
    for partitions in [1, 2, 5] {
        let make = || Engine::arrays(TableOptions::new().partitions(partitions));
        let compared: usize = files().iter().map(|file| run(run_file(file, make))).sum();
        assert!(compared >= 100, "{compared}");
    }
}

#[test]
fn cells_in_memory_return_expected_rows() {
    let compared: usize = files().iter().map(|file| run(run_file(file, Engine::memory))).sum();
    assert!(compared >= 100, "{compared}");
}

//! Peak memory of a migration: the budget and a constant, for arrays of any size.

use std::path::Path;

use crate::memory_support::{Size, dense, sparse};
use tdb_array::{ArrayOptions, CreateOptions};
use tdb_migrate::Migrate;
use tdb_testkit::allocations::peak_while;
use tdb_types::{FormatVersion, Scalar};

const BUDGET: usize = 4 << 20;
/// Constant in bytes, mostly for tables that compare old and new cells.
const CONSTANT: u64 = 28 << 20;
/// Number of cells in the smallest array, 24 bytes each. The largest has a hundred times as many.
const CELLS: i64 = 30_000;

fn check(what: &str, make: impl Fn(&Path, Size), migrate: &Migrate) {
    for times in [1, 10, 100] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("array");
        make(&path, Size { cells: CELLS * times, fragments: 3 });
        let array = ArrayOptions::new().threads(1).open(&path).unwrap();
        let mut cells = 0;
        let peak = peak_while(|| {
            let plan = migrate.clone().budget(BUDGET).plan(&array).unwrap();
            cells = plan.into_folder(&folder.path().join("new"), &CreateOptions::new()).unwrap().cells;
        });
        println!("{what}, {times} times the cells: {} KiB at the peak", peak >> 10);
        assert_eq!(cells, u64::try_from(CELLS * times).unwrap());
        assert!(peak < BUDGET as u64 + CONSTANT, "{what}, {times} times the cells: {peak}");
        assert!(peak > 1 << 18, "nothing was measured: {peak}");
    }
}

// Allocations are counted on one thread.
#[test]
fn peak_memory_stays_within_the_budget() {
    let to = |version: u32| Migrate::new().to(FormatVersion::new(version).unwrap());
    check("sparse", sparse, &to(9));
    check("dense", dense, &to(9));
    check("sparse, other tiles", sparse, &to(22).tile_extent("x", Scalar::I64(1000)));
    check("dense, other tiles", dense, &to(22).tile_extent("x", Scalar::I64(3000)));
    check("sparse, without history", sparse, &to(4).flatten());
    check("dense, without history", dense, &to(4).flatten());
}

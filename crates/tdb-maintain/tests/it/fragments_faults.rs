//! A consolidation in which each operation fails in turn: readers find all cells, and the next run
//! completes the consolidation or starts again.

use std::sync::Arc;

use crate::fragments_support::{
    Kind, Random, cells_at, cells_of, create, delete, dense, open, sparse, storage_of, write_dense, write_sparse,
};
use tdb_array::WriteIds;
use tdb_job::Result;
use tdb_maintain::ConsolidateFragments;
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::names::MAINTENANCE_LOCK;
use tdb_types::{Datatype, Layout};

fn prepare(version: u32, duplicates: bool, is_dense: bool) -> MemoryStorage {
    let disk = MemoryStorage::new();
    let storage = storage_of(&disk);
    let mut random = Random(u64::from(version));
    let names = WriteIds::new().seeded(3);
    if is_dense {
        create(&storage, dense(version, Layout::RowMajor, Layout::ColMajor));
        (11..14).for_each(|time| write_dense(&storage, &mut random, &names.clone().at(time)));
    } else {
        let kind = Kind { version, order: Layout::RowMajor, duplicates, first: Datatype::Int32 };
        create(&storage, sparse(kind));
        (11..14).for_each(|time| write_sparse(&storage, &mut random, kind, &names.clone().at(time)));
        if version >= 16 {
            delete(&storage, &mut random, &names.at(14));
        }
    }
    disk
}

fn run(storage: &Arc<dyn Storage>, size: Option<u64>, seed: u64) -> Result<()> {
    let consolidate = ConsolidateFragments::new().amplification(f64::INFINITY);
    let consolidate = consolidate.ids(WriteIds::new().seeded(seed));
    let consolidate = match size {
        Some(size) => consolidate.max_fragment_size(size),
        None => consolidate,
    };
    let array = tdb_array::ArrayOptions::new().threads(1).open_on(storage.clone())?;
    consolidate.plan(&array)?.take_over(true).run().map(drop)
}

/// Returns the temporary files.
fn rest(disk: &MemoryStorage) -> Vec<String> {
    let entries = disk.list("").unwrap().into_iter().map(|entry| entry.name);
    entries.filter(|name| tdb_storage::is_temporary(name)).collect()
}

fn check(what: &str, (version, duplicates, is_dense): (u32, bool, bool), size: Option<u64>) {
    let disk = prepare(version, duplicates, is_dense);
    let cells = cells_at(&storage_of(&disk), 50);
    let sound = FaultyStorage::sound(storage_of(&disk));
    run(&(Arc::new(sound.clone()) as _), size, 4).unwrap();
    assert_eq!(cells_at(&storage_of(&disk), 50), cells, "{what}");
    let joined = open(&storage_of(&disk)).fragments().unwrap().len();
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            let disk = prepare(version, duplicates, is_dense);
            let faulty: Arc<dyn Storage> = Arc::new(FaultyStorage::new(storage_of(&disk), fault, n));
            let result = run(&faulty, size, 4);
            let plain = storage_of(&disk);
            let now = cells_at(&plain, 50);
            // With duplicates, cells may exist twice until the next run.
            let mut distinct = now.clone();
            distinct.dedup();
            let mut expected = cells.clone();
            expected.dedup();
            assert!(now == cells || duplicates && distinct == expected, "{what}, {fault:?} at {n}: {now:#?}");
            // Deletes leftovers. The next run completes the consolidation.
            let array = open(&plain);
            array.remove_leftovers(&array.leftovers().unwrap()).unwrap();
            if result.is_err() || open(&plain).fragments().unwrap().len() != joined {
                run(&plain, size, 5).unwrap_or_else(|error| panic!("{what}, {fault:?} at {n}, once more: {error}"));
            }
            let array = open(&plain);
            assert_eq!(array.fragments().unwrap().len(), joined, "{what}, {fault:?} at {n}");
            assert_eq!(cells_of(&array), cells, "{what}, {fault:?} at {n}");
            let left = array.leftovers().unwrap();
            assert_eq!(left, [], "{what}, {fault:?} at {n}");
            // The last operation deletes the lock, after all steps.
            let is_over = n + 1 == sound.changes();
            let rest: Vec<String> =
                rest(&disk).into_iter().filter(|name| !is_over || name != MAINTENANCE_LOCK).collect();
            assert_eq!(rest, [""; 0], "{what}, {fault:?} at {n}");
        }
    }
}

#[test]
fn sparse_fragments() {
    for version in [22, 16, 14, 9] {
        for duplicates in [false, true] {
            check(&format!("{version} {duplicates}"), (version, duplicates, false), None);
        }
    }
}

#[test]
fn dense_fragments() {
    for version in [22, 14, 9] {
        check(&format!("dense {version}"), (version, false, true), None);
    }
}

/// From format 12 on, new fragments are committed together. Earlier formats commit them one by one.
#[test]
fn several_new_fragments() {
    for version in [22, 11] {
        check(&format!("several {version}"), (version, false, false), Some(1));
        check(&format!("several with duplicates {version}"), (version, true, false), Some(1));
        check(&format!("several dense {version}"), (version, false, true), Some(1));
    }
}

//! Random histories of writes, deletes and schema changes: every point in time reads as before.

use std::sync::Arc;

use crate::fragments_support::{
    Kind, Random, add_attribute, cells_at, create, delete, dense, open, sparse, storage_of, write_dense, write_sparse,
};
use tdb_array::WriteIds;
use tdb_maintain::ConsolidateFragments;
use tdb_storage::{MemoryStorage, Storage};
use tdb_types::{Datatype, Layout};

/// Timestamps have two digits because schema names compare as text.
const TIMES: std::ops::Range<u64> = 10..60;

fn consolidate(seed: u64) -> ConsolidateFragments {
    ConsolidateFragments::new().ids(WriteIds::new().seeded(seed + 10_000))
}

fn at_all_times(storage: &Arc<dyn Storage>, from: u64) -> Vec<Vec<String>> {
    (from.max(TIMES.start)..TIMES.end)
        .filter(|time| time % 2 == 0 || *time < 25)
        .chain([u64::MAX])
        .map(|time| cells_at(storage, time))
        .collect()
}

fn history(storage: &Arc<dyn Storage>, random: &mut Random, kind: Kind, (mut time, steps): (u64, u64)) {
    // Later writes of one millisecond have larger names, as from one writer.
    let names = WriteIds::new().seeded(random.below(1000));
    for step in 0..steps {
        time += random.below(4);
        let names = names.clone().at(time);
        match random.below(10) {
            0 | 1 if kind.version >= 16 => delete(storage, random, &names),
            2 if step > 0 => add_attribute(storage, &format!("b{time}x{step}"), &names),
            _ => write_sparse(storage, random, kind, &names),
        }
    }
}

fn check_sparse(kind: Kind, seed: u64, consolidate: &ConsolidateFragments) {
    let disk = MemoryStorage::new();
    let storage = storage_of(&disk);
    let mut random = Random(seed);
    create(&storage, sparse(kind));
    let steps = 3 + random.below(6);
    history(&storage, &mut random, kind, (11, steps));
    let array = open(&storage);
    let fragments = array.fragments().unwrap();
    if fragments.len() < 2 {
        return;
    }
    // Before format 15, no reader sees a part of a fragment's time range.
    let last = fragments.iter().map(|fragment| fragment.name().end()).max().unwrap();
    let from = if kind.version < 15 { last } else { 0 };
    let before = at_all_times(&storage, from);
    let report = consolidate.plan(&array).unwrap().run().unwrap();
    assert_eq!(report.steps[0].replaced.len(), fragments.len(), "{kind:?} {seed}");
    assert_eq!(at_all_times(&storage, from), before, "{kind:?} {seed}");
    // Consolidates again with later writes.
    history(&storage, &mut random, kind, (45, 3));
    if open(&storage).fragments().unwrap().len() < 2 {
        return;
    }
    let last = open(&storage).fragments().unwrap().iter().map(|fragment| fragment.name().end()).max().unwrap();
    let from = if kind.version < 15 { last } else { 0 };
    let before = at_all_times(&storage, from);
    consolidate.plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(at_all_times(&storage, from), before, "{kind:?} {seed}, second time");
}

fn kinds() -> impl Iterator<Item = Kind> {
    let versions = [22, 16, 15, 14, 12, 9, 7];
    versions.into_iter().flat_map(|version| {
        [Layout::RowMajor, Layout::ColMajor, Layout::Hilbert].into_iter().flat_map(move |order| {
            [false, true].into_iter().flat_map(move |duplicates| {
                [Datatype::Int32, Datatype::Float64, Datatype::StringAscii].into_iter().map(move |first| Kind {
                    version,
                    order,
                    duplicates,
                    first,
                })
            })
        })
    })
}

#[test]
fn sparse_arrays_read_the_same_at_every_time() {
    for (place, kind) in (0..).zip(kinds()) {
        for seed in 0..2 {
            check_sparse(kind, 100 * place + seed, &consolidate(seed));
        }
    }
}

#[test]
fn sparse_arrays_read_the_same_whatever_the_memory_and_the_size_of_fragments() {
    for (place, kind) in (0..).zip(kinds()) {
        check_sparse(kind, 5000 + place, &consolidate(place).budget(1));
        check_sparse(kind, 6000 + place, &consolidate(place).max_fragment_size(1));
        check_sparse(kind, 7000 + place, &consolidate(place).max_fragment_size(700).budget(1));
    }
}

fn check_dense(version: u32, (cells, tiles): (Layout, Layout), seed: u64, consolidate: &ConsolidateFragments) {
    let disk = MemoryStorage::new();
    let storage = storage_of(&disk);
    let mut random = Random(seed);
    create(&storage, dense(version, cells, tiles));
    let names = WriteIds::new().seeded(seed);
    for round in 0..2 {
        for step in 0..2 + random.below(4) {
            let names = names.clone().at(round * 10 + 12 + step / 2);
            if step == 2 {
                add_attribute(&storage, &format!("b{round}"), &names);
            }
            write_dense(&storage, &mut random, &names);
        }
        let array = open(&storage);
        let last = array.fragments().unwrap().iter().map(|fragment| fragment.name().end()).max().unwrap();
        let before = at_all_times(&storage, last);
        let domain = array.non_empty_domain().unwrap();
        consolidate.plan(&array).unwrap().run().unwrap();
        assert_eq!(at_all_times(&storage, last), before, "{version} {cells:?} {tiles:?} {seed}");
        assert_eq!(open(&storage).non_empty_domain().unwrap(), domain);
    }
}

#[test]
fn dense_arrays_read_the_same_from_the_last_write_on() {
    let orders = [Layout::RowMajor, Layout::ColMajor];
    for version in [22, 14, 9, 7] {
        for order in orders.into_iter().flat_map(|cells| orders.map(|tiles| (cells, tiles))) {
            for seed in 0..3 {
                let all = consolidate(seed).amplification(f64::INFINITY);
                check_dense(version, order, seed, &all);
                check_dense(version, order, 100 + seed, &all.clone().budget(1));
                check_dense(version, order, 200 + seed, &all.clone().max_fragment_size(1));
                check_dense(version, order, 300 + seed, &all.max_fragment_size(1500).budget(20_000));
            }
        }
    }
}

//! Refused consolidations that would lose data, and the losses when requested.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fragments_support::{
    Kind, Random, cells_at, create, delete, dense, open, sparse, storage_of, write_dense_box, write_sparse,
};
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_rtree::{DimRange, NdRange};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_array::{TimeRange, WriteBatch, WriteColumn, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{ConsolidateFragments, FragmentPlan, Refusal, Vacuum};
use tdb_storage::{MemoryStorage, ReadAt, Storage, StorageError, forward_storage};
use tdb_testkit::allocations::count_while;
use tdb_testkit::copy_files;
use tdb_types::{Datatype, FormatVersion, Layout, Scalar, TimestampedName};
use tdb_verify::{FindingKind, Severity, Verify};

fn simple(version: u32, is_dense: bool) -> Arc<dyn Storage> {
    let storage = storage_of(&MemoryStorage::new());
    let x = Dimension::new("x", 0i32..=99).with_tile(10);
    let schema = if is_dense { SchemaBuilder::dense() } else { SchemaBuilder::sparse() };
    let schema = schema.version(FormatVersion::new(version).unwrap()).dimension(x);
    create(&storage, schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
    storage
}

/// Writes one value to consecutive cells.
fn write(storage: &Arc<dyn Storage>, time: u64, x: std::ops::RangeInclusive<i32>, value: i32) -> String {
    let array = open(storage);
    let names = WriteIds::new().at(time).seeded(time * 100 + u64::try_from(value).unwrap());
    let count = x.clone().count();
    let values = vec![value; count];
    let write = array.write().ids(names);
    let written = if array.schema().is_dense() {
        write.range("x", x).unwrap().cells([("a", WriteColumn::values(&values))])
    } else {
        let x: Vec<i32> = x.collect();
        write.cells(WriteBatch::new().with("x", &x).with("a", &values))
    };
    written.unwrap().fragments[0].to_string()
}

fn refused(consolidate: &ConsolidateFragments, storage: &Arc<dyn Storage>) -> Refusal {
    match consolidate.plan(&open(storage)).and_then(FragmentPlan::run) {
        Err(MaintainError::Refused { why, .. }) => {
            let plan = consolidate.plan(&open(storage)).unwrap();
            assert!(plan.steps().is_empty() && plan.refused() == [why.clone()], "{plan}");
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fragments_written_in_between_must_be_included() {
    for (version, is_dense) in [(22, true), (14, false), (9, false)] {
        let storage = simple(version, is_dense);
        let first = write(&storage, 11, 0..=5, 1);
        let between = write(&storage, 12, 3..=4, 2);
        let last = write(&storage, 13, 4..=8, 3);
        let before = cells_at(&storage, 50);
        let why = refused(&ConsolidateFragments::new().fragments([first.clone(), last.clone()]), &storage);
        assert!(matches!(&why, Refusal::Between { fragment } if fragment.as_str() == between), "{why}");
        let all = ConsolidateFragments::new().fragments([first, between, last]);
        assert_eq!(all.plan(&open(&storage)).unwrap().run().unwrap().steps.len(), 1);
        assert_eq!(cells_at(&storage, 50), before);
    }
}

/// Creates an array without duplicates and three fragments. The first fragment has three cells at
/// 5, as a writer without checks leaves them.
fn with_repeated_coordinates(version: u32, newer: std::ops::RangeInclusive<i32>) -> Arc<dyn Storage> {
    let [storage, twin] = [false, true].map(|allowed| {
        let storage = storage_of(&MemoryStorage::new());
        let x = Dimension::new("x", 0i32..=99).with_tile(10);
        let schema = SchemaBuilder::sparse().version(FormatVersion::new(version).unwrap()).allows_duplicates(allowed);
        let schema = schema.dimension(x).attribute(Attribute::new("a", Datatype::Int32)).capacity(2);
        create(&storage, schema.build().unwrap());
        storage
    });
    let cells = WriteBatch::new().with("x", &[1, 5, 5, 5]).with("a", &[10, 51, 52, 53]);
    open(&twin).write().ids(WriteIds::new().at(20).seeded(1)).cells(cells).unwrap();
    for folder in ["__fragments", "__commits"] {
        copy_files(&*twin.sub(folder).unwrap(), &*storage.sub(folder).unwrap());
    }
    write(&storage, 30, newer, 60);
    write(&storage, 10, 1..=2, 5);
    storage
}

fn duplicates_found(storage: &Arc<dyn Storage>) -> Vec<String> {
    let report = Verify::new().threads(1).storage(storage.clone()).unwrap();
    let found = report.findings.iter().filter(|finding| finding.kind == FindingKind::Duplicates);
    let found = found.inspect(|finding| assert_eq!(finding.severity, Severity::Finding));
    found.map(|finding| finding.what.clone()).collect()
}

#[test]
fn fragments_that_repeat_coordinates_stay_as_they_are() {
    // Without cell timestamps, hidden cells are dropped.
    for (version, newer, cells) in [(22, 5..=6, 4), (14, 6..=7, 7)] {
        let storage = with_repeated_coordinates(version, newer);
        let before: Vec<_> = [15, 25, 35].map(|time| cells_at(&storage, time)).to_vec();
        assert_eq!(before.iter().map(Vec::len).collect::<Vec<_>>(), [2, 5, cells], "format {version}");
        let error = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap_err();
        assert!(error.to_string().contains("expected each coordinate once"), "{error}");
        assert_eq!([15, 25, 35].map(|time| cells_at(&storage, time)).to_vec(), before);
        assert_eq!(open(&storage).fragments().unwrap().len(), 3);
        let found = duplicates_found(&storage);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("found 2 cells with the coordinates of another one, first at x=5"), "{found:?}");
    }
}

#[test]
fn a_purge_of_repeated_cells_permits_a_consolidation() {
    let storage = with_repeated_coordinates(22, 6..=7);
    let names = WriteIds::new().at(40).seeded(4);
    open(&storage).delete_cells(&Condition::field("a").gt(51).and(Condition::field("a").lt(54)), &names).unwrap();
    let before: Vec<_> = [15, 45].map(|time| cells_at(&storage, time)).to_vec();
    ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap_err();
    ConsolidateFragments::new().purge(true).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!([15, 45].map(|time| cells_at(&storage, time)).to_vec(), before);
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);
}

#[test]
fn cell_timestamps_permit_fragments_in_between() {
    let storage = simple(22, false);
    let chosen = [write(&storage, 11, 0..=5, 1), write(&storage, 13, 4..=8, 3)];
    write(&storage, 12, 3..=4, 2);
    let before: Vec<_> = (10..20).map(|time| cells_at(&storage, time)).collect();
    ConsolidateFragments::new().fragments(chosen).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((10..20).map(|time| cells_at(&storage, time)).collect::<Vec<_>>(), before);
}

#[test]
fn fragments_of_the_same_time_must_be_included() {
    for (version, is_dense) in [(22, true), (22, false), (14, false)] {
        let storage = simple(version, is_dense);
        let chosen = [write(&storage, 11, 0..=5, 1), write(&storage, 12, 0..=5, 2)];
        let same = write(&storage, if version == 22 && !is_dense { 12 } else { 11 }, 3..=4, 3);
        let why = refused(&ConsolidateFragments::new().fragments(chosen), &storage);
        assert!(matches!(&why, Refusal::SameTime { fragment } if fragment.as_str() == same), "{why}");
    }
}

#[test]
fn tiles_of_a_new_dense_fragment_cover_no_older_one() {
    let storage = simple(22, true);
    let older = write(&storage, 11, 8..=9, 1);
    write(&storage, 12, 0..=1, 2);
    write(&storage, 13, 3..=4, 3);
    let later = ConsolidateFragments::new().between(TimeRange { start: 12, end: 20 });
    let why = refused(&later, &storage);
    assert!(matches!(&why, Refusal::CoversOlder { fragment } if fragment.as_str() == older), "{why}");
}

#[test]
fn unwritten_cells_are_bounded() {
    let storage = simple(22, true);
    write(&storage, 11, 0..=9, 1);
    write(&storage, 12, 90..=99, 2);
    let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((report.steps.len(), report.left.len()), (0, 2), "{report}");
    assert_eq!(report.refused, [Refusal::Apart { found: 5.0, allowed: 1.0 }]);
    let runs = ConsolidateFragments::new().step_min_fragments(2);
    assert_eq!(refused(&runs, &storage), Refusal::Amplification { found: 5.0, allowed: 1.0 });
    let report = ConsolidateFragments::new().amplification(5.0).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(report.steps[0].cells, 100);
}

/// Writes as two distant appenders.
fn appended(storage: &Arc<dyn Storage>, count: i32) {
    for number in 0..count {
        let start = if number % 2 == 0 { 0 } else { 60 } + number / 2 * 5;
        write(storage, 11 + u64::try_from(number).unwrap(), start..=start + 4, number);
    }
}

#[test]
fn nearby_dense_fragments_are_consolidated_in_groups() {
    let history = |storage: &_| (10..40).map(|time| cells_at(storage, time)).collect::<Vec<_>>();
    // A group has half of the cells of its fragments' tiles. All fragments together have three
    // quarters.
    let groups = || ConsolidateFragments::new().amplification(0.7);
    let filled = || {
        let storage = simple(22, true);
        appended(&storage, 12);
        storage
    };
    let storage = filled();
    let before = history(&storage);
    let plan = groups().plan(&open(&storage)).unwrap();
    let (steps, left, refused) = (plan.steps().to_vec(), plan.remaining().to_vec(), plan.refused().to_vec());
    let report = plan.run().unwrap();
    let sizes: Vec<usize> = report.steps.iter().map(|step| step.replaced.len()).collect();
    assert_eq!((sizes, report.left.len(), left.len()), (vec![6, 6], 2, 2), "{report}");
    assert!(steps.iter().zip(&report.steps).all(|(planned, step)| planned.fragments == step.replaced), "{steps:?}");
    assert!(matches!(report.refused[..], [Refusal::Apart { .. }]), "{report}");
    assert_eq!(report.refused, refused);
    assert_eq!(history(&storage), before);
    assert!(report.to_string().contains("2 fragments remain\nnot consolidated: "), "{report}");
    // The remaining fragments stay on the next run, without an error.
    let again = groups().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((again.steps.len(), &again.left, &again.refused), (0, &report.left, &report.refused));
    assert!(again.to_string().starts_with("nothing to consolidate\n2 fragments remain\nnot consolidated: "), "{again}");

    for (options, expected) in [
        (groups().steps(1), vec![6]),
        (groups().step_max_fragments(4).steps(4), vec![4, 4, 2, 2]),
        (ConsolidateFragments::new().step_max_fragments(4).steps(4), vec![4, 4, 2, 2]),
        // Older fragments overlap the tiles of the fragments of 13 and 14.
        (groups().between(TimeRange { start: 13, end: 18 }), vec![2, 2]),
        (groups().max_fragment_size(1), vec![6, 6]),
    ] {
        let storage = filled();
        let report = options.plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!(report.steps.iter().map(|step| step.replaced.len()).collect::<Vec<_>>(), expected, "{report}");
        assert_eq!(history(&storage), before);
    }
}

#[test]
fn groups_of_dense_fragments_change_nothing_for_readers() {
    let (mut joined, mut left) = (0, 0);
    for seed in 0..40 {
        let storage = storage_of(&MemoryStorage::new());
        create(&storage, dense(22, Layout::RowMajor, Layout::RowMajor));
        let mut random = Random(seed);
        for time in 11..11 + 2 * (2 + random.below(5)) {
            // Some writes have the same time.
            let names = WriteIds::new().seeded(time).at(11 + (time - 11) * 2 / 3);
            let (x, y) = (random.number(2) * 9 - 5, 1 + random.number(3) * 4);
            let (to_x, to_y) = (x + random.number(2), (y + random.number(6)).min(10));
            write_dense_box(&storage, &mut random, &names, [x..=to_x, y..=to_y]);
        }
        let history = |storage: &_| (10..40).map(|time| cells_at(storage, time)).collect::<Vec<_>>();
        let before = history(&storage);
        let factor = f64::from(random.number(4)) / 4.0 + 0.4;
        let consolidate = ConsolidateFragments::new().amplification(factor);
        let plan = consolidate.plan(&open(&storage)).unwrap();
        let report = consolidate.plan(&open(&storage)).and_then(FragmentPlan::run);
        let report = report.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(plan.steps().len(), report.steps.len(), "{seed}: {plan}{report}");
        joined += report.steps.len();
        left += report.left.len();
        assert_eq!(history(&storage), before, "{seed}");
        let last = cells_at(&storage, 100);
        Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!(cells_at(&storage, 100), last, "{seed}");
    }
    assert!(joined > 30 && left > 30, "{joined} {left}");
}

/// Returns the cells of the common MBR, as a multiple of the cells of the fragments' tiles.
fn factor_of(one: &NdRange, other: &NdRange, extent: u64) -> f64 {
    let base = Scalar::I32(0).key();
    let sides = |all: &NdRange| -> Vec<(u64, u64)> {
        let side = |side: &DimRange| match side {
            DimRange::Fixed { lo, hi } => (lo - base, hi - base),
            DimRange::Var { .. } => panic!("a number"),
        };
        all.0.iter().map(side).collect()
    };
    let (one, other) = (sides(one), sides(other));
    let tiles =
        |sides: &[(u64, u64)]| sides.iter().map(|(lo, hi)| (hi / extent - lo / extent + 1) * extent).product::<u64>();
    let around = one.iter().zip(&other).map(|((a, b), (c, d))| b.max(d) - a.min(c) + 1).product::<u64>();
    around as f64 / (tiles(&one) + tiles(&other)) as f64
}

#[test]
fn no_two_nearby_dense_fragments_remain() {
    const EXTENT: u64 = 4;
    let (mut joined, mut left) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed + 1000);
        let sides = 1 + usize::try_from(random.below(2)).unwrap();
        let most = if sides == 1 { 599 } else { 39 };
        let storage = storage_of(&MemoryStorage::new());
        let dimension = |name: &str| Dimension::new(name, 0i32..=most).with_tile(EXTENT as i32);
        let builder =
            ["x", "y"][..sides].iter().fold(SchemaBuilder::dense(), |all, name| all.dimension(dimension(name)));
        create(&storage, builder.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
        let count = 3 + random.below(8);
        for time in 11..11 + count {
            // One of eight writes is distant, and some have the same time.
            let start = if random.below(8) == 0 { most - 12 } else { 0 };
            let mut write = open(&storage).write().ids(WriteIds::new().seeded(time).at(11 + (time - 11) * 3 / 4));
            let mut cells = 1;
            for name in &["x", "y"][..sides] {
                let from = start + random.number(8);
                let to = (from + random.number(7)).min(most);
                write = write.range(name, from..=to).unwrap();
                cells *= usize::try_from(to - from + 1).unwrap();
            }
            write.cells([("a", WriteColumn::values(&vec![i32::try_from(time).unwrap(); cells]))]).unwrap();
        }
        let history = |storage: &_| (10..25).map(|time| cells_at(storage, time)).collect::<Vec<_>>();
        let before = history(&storage);
        let amplification = [0.5, 0.8, 1.0, 1.5, 4.0][usize::try_from(random.below(5)).unwrap()];
        let consolidate = ConsolidateFragments::new().amplification(amplification);
        let report = consolidate.plan(&open(&storage)).unwrap().run().unwrap();
        joined += report.steps.len();
        assert_eq!(history(&storage), before, "{seed}");
        let array = open(&storage);
        let fragments = array.fragments().unwrap();
        assert_eq!(report.left.is_empty(), fragments.len() == 1, "{seed}: {report}");
        for (number, one) in fragments.iter().enumerate() {
            for other in &fragments[number + 1..] {
                left += 1;
                let boxes = (one.non_empty_domain().unwrap(), other.non_empty_domain().unwrap());
                if factor_of(boxes.0, boxes.1, EXTENT) > amplification {
                    continue;
                }
                let both = ConsolidateFragments::new().fragments([one.name().as_str(), other.name().as_str()]);
                let plan = both.plan(&array).unwrap();
                assert!(plan.steps().is_empty(), "{seed}: {} and {} fit: {report}", one.name(), other.name());
            }
        }
        // A second run changes nothing and is no error.
        let again = consolidate.plan(&array).unwrap().run().unwrap();
        assert_eq!((again.steps.len(), again.left.len()), (0, report.left.len()), "{seed}: {again}");
    }
    assert!(joined > 50 && left > 20, "{joined} {left}");
}

#[test]
fn values_of_dropped_attributes_stay_by_default() {
    let storage = simple(22, false);
    write(&storage, 11, 0..=1, 1);
    write(&storage, 12, 1..=2, 2);
    let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Int32)).drop_attribute("a");
    open(&storage).evolve(&evolution, &WriteIds::new().at(13).seeded(9)).unwrap();
    let why = refused(&ConsolidateFragments::new(), &storage);
    assert_eq!(why, Refusal::DroppedAttributes { names: vec!["a".to_owned()] });
    let before = cells_at(&storage, 50);
    ConsolidateFragments::new().flatten_history(true).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(cells_at(&storage, 50), before);
}

#[test]
fn cells_of_a_range_of_time_do_not_show_before_its_end() {
    let undated = || {
        let storage = simple(9, false);
        write(&storage, 11, 0..=1, 1);
        write(&storage, 13, 2..=3, 2);
        ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
        // From here on the array has the current format, with cell timestamps.
        let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Int32));
        open(&storage).evolve(&evolution, &WriteIds::new().at(14).seeded(9)).unwrap();
        storage
    };
    let later = |storage: &Arc<dyn Storage>, time: u64, x: i32| {
        let column = |value: i32| WriteColumn::owned(value.to_le_bytes().into(), None, None);
        let cells = WriteBatch::new().with("x", column(x)).with("a", column(7)).with("b", column(8));
        open(storage).write().ids(WriteIds::new().at(time).seeded(time)).cells(cells).unwrap().fragments[0].to_string()
    };
    let storage = undated();
    later(&storage, 20, 50);
    later(&storage, 21, 2);
    let read = || [10, 11, 12, 13, 14, 19, 20, 21, 50].map(|time| cells_at(&storage, time));
    let before = read();
    assert!(before[2].is_empty() && before[3].len() == 4);
    ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(read(), before);
    // By start timestamp the fragment is newer than the range around it, and by end timestamp
    // older.
    let storage = undated();
    later(&storage, 12, 2);
    let why = refused(&ConsolidateFragments::new(), &storage);
    assert!(matches!(why, Refusal::Undated { .. }), "{why}");
}

/// Drops the attribute `a` and adds another one with the same name.
fn replace(storage: &Arc<dyn Storage>, time: u64, attribute: Attribute) {
    let names = WriteIds::new().seeded(time).at(time);
    open(storage).evolve(&SchemaEvolution::new().drop_attribute("a"), &names).unwrap();
    let names = WriteIds::new().seeded(time).at(time + 1);
    open(storage).evolve(&SchemaEvolution::new().add_attribute(attribute), &names).unwrap();
}

#[test]
fn nulls_of_the_past_stay_nulls() {
    let x = Dimension::new("x", 0i32..=99);
    let nullable = Attribute::new("a", Datatype::Int32).nullable(true);
    for (first, second, is_lost) in [
        (nullable.clone(), Attribute::new("a", Datatype::Int32), true),
        (Attribute::new("a", Datatype::Int32), nullable, false),
    ] {
        let storage = storage_of(&MemoryStorage::new());
        create(&storage, SchemaBuilder::sparse().dimension(x.clone()).attribute(first).build().unwrap());
        let write = |time: u64| {
            let cells = WriteBatch::new().with("x", WriteColumn::owned(1i32.to_le_bytes().into(), None, None));
            let is_nullable = open(&storage).schema().attributes()[0].is_nullable();
            let value = match is_nullable {
                true => WriteColumn::options([None::<i32>]),
                false => WriteColumn::owned(5i32.to_le_bytes().into(), None, None),
            };
            open(&storage).write().ids(WriteIds::new().seeded(time).at(time)).cells(cells.with("a", value)).unwrap();
        };
        write(11);
        replace(&storage, 12, second);
        write(20);
        let before = cells_at(&storage, 11);
        if is_lost {
            let why = refused(&ConsolidateFragments::new(), &storage);
            assert_eq!(why, Refusal::DroppedAttributes { names: vec!["a".to_owned()] });
            continue;
        }
        ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!(cells_at(&storage, 11), before);
    }
}

#[test]
fn unwritten_cells_read_as_before() {
    let x = Dimension::new("x", 0i32..=99);
    let storage = storage_of(&MemoryStorage::new());
    let keeps = Attribute::new("k", Datatype::Int32);
    create(&storage, SchemaBuilder::sparse().dimension(x).attribute(keeps).build().unwrap());
    for time in [11, 12] {
        let number = || WriteColumn::owned(1i32.to_le_bytes().into(), None, None);
        let cells = WriteBatch::new().with("x", number()).with("k", number());
        open(&storage).write().ids(WriteIds::new().seeded(time).at(time)).cells(cells).unwrap();
    }
    let filled = |fill: i32| Attribute::new("a", Datatype::Int32).with_fill_value(fill.to_le_bytes());
    let names = WriteIds::new().seeded(9).at(13);
    open(&storage).evolve(&SchemaEvolution::new().add_attribute(filled(7)), &names).unwrap();
    replace(&storage, 14, filled(8));
    let why = refused(&ConsolidateFragments::new(), &storage);
    assert_eq!(why, Refusal::DroppedAttributes { names: vec!["a".to_owned()] });
}

#[test]
fn a_purge_keeps_visible_cells() {
    for duplicates in [false, true] {
        for seed in 0..20 {
            let storage = storage_of(&MemoryStorage::new());
            let kind = Kind { version: 22, order: Layout::RowMajor, duplicates, first: Datatype::Int32 };
            create(&storage, sparse(kind));
            let (mut random, names) = (Random(seed), WriteIds::new().seeded(seed));
            for time in 11..18 {
                write_sparse(&storage, &mut random, kind, &names.clone().at(time));
                if time % 3 == 0 {
                    delete(&storage, &mut random, &names.clone().at(time));
                }
            }
            let before = cells_at(&storage, 50);
            let report = ConsolidateFragments::new().purge(true).plan(&open(&storage)).unwrap().run().unwrap();
            assert_eq!(cells_at(&storage, 50), before, "{duplicates} {seed}");
            if duplicates {
                assert_eq!(report.steps[0].cells, before.len() as u64);
            }
        }
    }
}

#[test]
fn future_deletes_are_not_purged() {
    let storage = simple(22, false);
    write(&storage, 11, 0..=3, 1);
    write(&storage, 12, 4..=5, 2);
    let future = 99_999_999_999_999;
    let condition = Condition::field("a").eq(2i32);
    open(&storage).delete_cells(&condition, &WriteIds::new().at(future).seeded(1)).unwrap();
    let before: Vec<_> = [50, future - 1, future].map(|time| cells_at(&storage, time)).into();
    ConsolidateFragments::new().purge(true).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!([50, future - 1, future].map(|time| cells_at(&storage, time)).to_vec(), before);
    assert_eq!(before[2].len(), 4);
}

#[test]
fn a_purge_brings_no_older_cells_back() {
    let storage = simple(22, false);
    let older = write(&storage, 11, 0..=3, 1);
    let chosen = [write(&storage, 12, 2..=5, 2), write(&storage, 13, 6..=7, 2)];
    open(&storage).delete_cells(&Condition::field("a").eq(2i32), &WriteIds::new().at(14).seeded(1)).unwrap();
    let why = refused(&ConsolidateFragments::new().fragments(chosen).purge(true), &storage);
    assert!(matches!(&why, Refusal::Uncovers { fragment } if fragment.as_str() == older), "{why}");
}

#[test]
fn all_cells_may_be_purged() {
    let storage = simple(22, false);
    write(&storage, 11, 0..=3, 2);
    write(&storage, 12, 2..=5, 2);
    open(&storage).delete_cells(&Condition::field("a").eq(2i32), &WriteIds::new().at(14).seeded(1)).unwrap();
    let report = ConsolidateFragments::new().purge(true).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(report.steps[0].fragments, []);
    assert!(open(&storage).fragments().unwrap().is_empty());
    // A vacuum deletes the fragments without a replacement.
    let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
    assert!(report.left.is_empty(), "{:?}", report.left);
    assert!(storage.list("__fragments").unwrap().is_empty());
    assert!(open(&storage).fragments().unwrap().is_empty());
    assert!(!storage.list("__commits").unwrap().iter().any(|entry| entry.name.ends_with(".vac")));
}

/// A plan is renewed if fragments were written or deleted before it runs.
#[test]
fn plans_follow_fragments_that_come_and_go() {
    let storage = simple(22, false);
    for time in 11..15 {
        write(&storage, time, 0..=5, 1);
    }
    let plan = || ConsolidateFragments::new().plan(&open(&storage)).unwrap();
    let (late, early) = (plan(), plan());
    write(&storage, 20, 0..=5, 1);
    let replaced = late.run().unwrap().steps.remove(0).replaced;
    assert_eq!(replaced.len(), 5, "{replaced:?}");
    assert_eq!(early.run().unwrap().steps, [], "all planned fragments are superseded");
}

#[test]
fn steps_are_chosen_by_number_and_size() {
    let storage = simple(22, false);
    let names: Vec<String> = (0..4).map(|n| write(&storage, 11 + n, 0..=5, 1)).collect();
    let two = ConsolidateFragments::new().step_min_fragments(2).step_max_fragments(2).steps(1);
    let plan = two.plan(&open(&storage)).unwrap();
    let chosen: Vec<&str> = plan.steps()[0].fragments.iter().map(TimestampedName::as_str).collect();
    assert_eq!(chosen, [&names[0], &names[1]]);
    let report = plan.run().unwrap();
    assert_eq!((report.steps.len(), open(&storage).fragments().unwrap().len()), (1, 3));
    let why = refused(&ConsolidateFragments::new().step_size_ratio(1.0), &storage);
    assert_eq!(why, Refusal::SizeRatio { least: 1.0 });
    let all = two.steps(9).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((all.steps.len(), open(&storage).fragments().unwrap().len()), (2, 1));
    // An empty plan is no error.
    assert!(ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap().steps.is_empty());
    let unknown = ConsolidateFragments::new().fragments(["none"]).plan(&open(&storage)).and_then(FragmentPlan::run);
    let error = unknown.unwrap_err();
    assert!(matches!(error, MaintainError::Refused { why: Refusal::NoSuchFragment { .. }, .. }), "{error}");
}

#[test]
fn old_formats_need_a_storage_with_a_uri() {
    let disk = MemoryStorage::new();
    let plain: Arc<dyn Storage> = Arc::new(disk.clone());
    let x = Dimension::new("x", 0i32..=99);
    let schema = SchemaBuilder::sparse().version(FormatVersion::new(18).unwrap()).dimension(x);
    create(&plain, schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
    write(&plain, 11, 0..=1, 1);
    write(&plain, 12, 0..=1, 2);
    assert_eq!(refused(&ConsolidateFragments::new(), &plain), Refusal::NoUri);
    let report = ConsolidateFragments::new().plan(&open(&storage_of(&disk))).unwrap().run().unwrap();
    let list = String::from_utf8(disk.read(&report.steps[0].vacuum_file).unwrap()).unwrap();
    assert!(list.starts_with("file:///arrays/array/__fragments/__11_11_") && list.lines().count() == 2, "{list}");
}

/// A fragment outside of the time range prevents all runs. The cost is linear in the number of
/// fragments.
#[test]
fn a_conflicting_fragment_is_compared_once() {
    let allocations = |count: u64| {
        let storage = simple(22, true);
        for time in 1..=count {
            write(&storage, time + 10, 0..=9, 1);
        }
        let later = TimeRange { start: 12, end: u64::MAX };
        let consolidate = ConsolidateFragments::new().between(later).step_min_fragments(2);
        let array = open(&storage);
        let work = count_while(|| {
            let plan = consolidate.plan(&array).unwrap();
            assert!(plan.steps().is_empty() && matches!(plan.refused()[..], [Refusal::CoversOlder { .. }]), "{plan}");
        });
        println!("{count} fragments: {work} allocations");
        work
    };
    let (few, many) = (allocations(40), allocations(120));
    assert!(many < 4 * few, "{few} allocations for 40 fragments, {many} for 120");
}

/// A storage that counts how often fragment metadata is opened.
#[derive(Clone, Debug)]
struct Watched {
    inner: Arc<dyn Storage>,
    opened: Arc<AtomicU64>,
}

impl Watched {
    fn note(&self, path: &str) {
        let is_metadata = path.ends_with("__fragment_metadata.tdb");
        self.opened.fetch_add(u64::from(is_metadata), Ordering::Relaxed);
    }
}

impl Storage for Watched {
    forward_storage!(|this| this.inner => list, profile, kind, sub, describe, uri);
    forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder);

    fn open(&self, path: &str) -> Result<Arc<dyn ReadAt>, StorageError> {
        self.note(path);
        self.inner.open(path)
    }

    fn open_sized(&self, path: &str, size: u64) -> Result<Arc<dyn ReadAt>, StorageError> {
        self.note(path);
        self.inner.open_sized(path, size)
    }
}

/// Applies to any number of steps and checks per step.
#[test]
fn metadata_of_fragments_is_opened_once() {
    for is_dense in [false, true] {
        let inner = simple(22, is_dense);
        for number in 0..24_i32 {
            write(&inner, 10 + u64::try_from(number).unwrap(), number * 4..=number * 4 + 3, number);
        }
        let opened = Arc::new(AtomicU64::new(0));
        let storage: Arc<dyn Storage> = Arc::new(Watched { inner, opened: Arc::clone(&opened) });
        let before: Vec<_> = (9..40).map(|time| cells_at(&storage, time)).collect();
        opened.store(0, Ordering::Relaxed);
        let consolidate = ConsolidateFragments::new().step_min_fragments(2).step_max_fragments(4).amplification(10.0);
        let report = consolidate.plan(&open(&storage)).unwrap().run().unwrap();
        let (opened, fragments) = (opened.load(Ordering::Relaxed), 24 + report.steps.len() as u64);
        println!("{} steps: {opened} times for {fragments} fragments", report.steps.len());
        assert!(report.steps.len() > 5 && opened <= fragments, "{opened} times for {fragments} fragments");
        assert_eq!((9..40).map(|time| cells_at(&storage, time)).collect::<Vec<_>>(), before);
    }
}

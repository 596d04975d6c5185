//! Failing storage operations: readers see the same data, and the next run completes the job.

use crate::support;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Case, Files, Placed, copy_fragment, differences, on, open, try_open};
use tdb_array::{CreateOptions, MetadataValue, TimeRange, WriteColumn, WriteIds};
use tdb_condition::Condition;
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, Consolidation, Report, Vacuum};
use tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_storage::{MemoryStorage, Storage, is_temporary};
use tdb_testkit::{Fault, FaultyStorage, fixtures};
use tdb_types::names::{MAINTENANCE_LOCK, is_of_maintenance};
use tdb_types::{Datatype, Feature, FormatVersion};

/// Counts files by folder and extension.
fn kinds(files: &Files) -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for path in files.keys() {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let top = folder.split('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        *kinds.entry(format!("{top} {extension}")).or_default() += 1;
    }
    kinds
}

/// Fails each operation of a job in each way. Returns the number of operations.
fn check(what: &str, files: &Files, job: impl Fn(&Arc<dyn Storage>) -> Result<Report, MaintainError>) -> u64 {
    let plain = on(files);
    let before = Case::on(plain.clone()).history();
    let past: Vec<TimeRange> = Vacuum::all().plan(&open(&plain)).unwrap().past().copied().collect();
    let sound = FaultyStorage::sound(plain.clone());
    assert!(!job(&(Arc::new(sound.clone()) as _)).unwrap().steps.is_empty(), "{what}: nothing to do");
    let finish = |storage: &Arc<dyn Storage>| {
        let leftovers = open(storage).leftovers().unwrap();
        assert!(leftovers.iter().all(|leftover| is_temporary(&leftover.path)), "{what}: {leftovers:?}");
        open(storage).remove_leftovers(&leftovers).unwrap();
        let report = Vacuum::all().delete_files(true).plan(&open(storage)).unwrap().run().unwrap();
        assert!(report.left.is_empty(), "{what}: {:?}", report.left);
        kinds(&support::files(&**storage))
    };
    let after = finish(&plain);
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            let plain = on(files);
            let result = job(&(Arc::new(FaultyStorage::new(plain.clone(), fault, n)) as _));
            // The last operation deletes the lock after all steps. The next process takes the lock
            // over.
            let is_over = n + 1 == sound.changes() && plain.exists(MAINTENANCE_LOCK).unwrap();
            assert!(result.is_err() || is_over, "{what}, {fault:?} at {n}: the failed job reported success");
            let is_temporary = |path: &String| path.starts_with(".tdb-");
            let known = |path: &String| path == MAINTENANCE_LOCK || !is_of_maintenance(path);
            assert!(support::files(&*plain).keys().filter(|path| is_temporary(path)).all(known), "{what} at {n}");
            let now = Case::on(plain.clone()).history();
            assert_eq!(differences(&before, &now, &past), [""; 0], "{what}, {fault:?} at {n}");
            job(&plain).unwrap_or_else(|error| panic!("{what}, {fault:?} at {n}, once more: {error}"));
            let now = Case::on(plain.clone()).history();
            assert_eq!(differences(&before, &now, &past), [""; 0], "{what}, {fault:?} at {n}, once more");
            // A run without steps has not taken over the lock.
            if is_over {
                plain.remove_file(MAINTENANCE_LOCK).unwrap_or_default();
            }
            assert_eq!(finish(&plain), after, "{what}, {fault:?} at {n}");
        }
    }
    sound.changes()
}

/// Returns an array with writes, a delete and metadata.
fn written(version: u32) -> Files {
    let version = FormatVersion::new(version).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Placed(Arc::new(MemoryStorage::new())));
    let rows = Dimension::new("row", 1i32..=100);
    let schema = SchemaBuilder::sparse().version(version).dimension(rows);
    let schema = schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    let names = WriteIds::new().seeded(1);
    let definition = ArrayDefinition::new(schema).unwrap();
    CreateOptions::new().ids(names.clone().at(1)).create_on(&storage, &definition).unwrap();
    for time in 2..5u64 {
        let names = names.clone().at(time * 10);
        let (rows, values) = ([1i32, time as i32], [time as i32; 2]);
        let cells = [("row", WriteColumn::values(&rows)), ("a", WriteColumn::values(&values))];
        open(&storage).write().ids(names.clone()).cells(cells).unwrap();
        let value = MetadataValue::text(&format!("at {time}")).unwrap();
        let change = open(&storage).write_metadata().ids(names).put("k", value.clone());
        change.put(format!("{time}"), value).commit().unwrap();
    }
    open(&storage).write_metadata().ids(names.clone().at(45)).delete("2").commit().unwrap();
    if version.has(Feature::DeleteCommits) {
        open(&storage).delete_cells(&Condition::field("a").lt(3i32), &names.at(50)).unwrap();
    }
    support::files(&*storage)
}

/// Returns the files after a job.
fn then(files: &Files, job: impl Fn(&Arc<dyn Storage>) -> Result<Report, MaintainError>) -> Files {
    let storage = on(files);
    job(&storage).unwrap();
    support::files(&*storage)
}

fn consolidate(what: Consolidation) -> impl Fn(&Arc<dyn Storage>) -> Result<Report, MaintainError> {
    move |storage| what.plan(&try_open(storage)?)?.take_over(true).run()
}

fn vacuum(what: Vacuum) -> impl Fn(&Arc<dyn Storage>) -> Result<Report, MaintainError> {
    move |storage| what.plan(&try_open(storage)?)?.take_over(true).run()
}

#[test]
fn joining_and_vacuuming_small_files() {
    let mut operations = 0;
    for version in [4, 9, 11, 12, 16, 19, 22] {
        let files = written(version);
        let mut kinds = vec![("metadata", Consolidate::metadata(), Vacuum::metadata())];
        if version != 11 {
            kinds.push(("footers", Consolidate::footers(), Vacuum::footers()));
        }
        if !(7..12).contains(&version) {
            kinds.push(("commits", Consolidate::commits(), Vacuum::commits().delete_files(true)));
        }
        for (what, joining, vacuuming) in kinds {
            operations += check(&format!("{what} of {version}"), &files, consolidate(joining.clone()));
            let mut joined = then(&files, consolidate(joining.clone()));
            if what == "footers" {
                // After another write and another consolidation, the first consolidated file is
                // superfluous.
                let storage = on(&joined);
                let cells = [("row", &[7i32]), ("a", &[7i32])];
                open(&storage).write().ids(WriteIds::new().seeded(2).at(60)).cells(cells).unwrap();
                joined = then(&support::files(&*storage), consolidate(joining));
            }
            operations += check(&format!("vacuum of {what} of {version}"), &joined, vacuum(vacuuming));
        }
    }
    assert!(operations > 100, "{operations}");
}

#[test]
fn commits_that_were_joined_twice() {
    let files = then(&written(22), consolidate(Consolidate::commits()));
    let storage = on(&files);
    let cells = [("row", &[7i32]), ("a", &[7i32])];
    open(&storage).write().ids(WriteIds::new().seeded(2).at(60)).cells(cells).unwrap();
    let files = then(&support::files(&*storage), consolidate(Consolidate::commits()));
    assert_eq!(files.keys().filter(|path| path.ends_with(".con")).count(), 2);
    check("commits, twice", &files, vacuum(Vacuum::commits().delete_files(true)));
    let vacuumed = then(&files, vacuum(Vacuum::commits()));
    assert_eq!(vacuumed.keys().filter(|path| path.ends_with(".con")).count(), 1);
    assert_eq!(vacuumed.keys().filter(|path| path.ends_with(".del")).count(), 1, "it stays for release 2.30.0");
    assert_eq!(vacuumed.keys().filter(|path| path.ends_with(".wrt")).count(), 0);
}

/// Arrays that the reference library consolidated and did not vacuum, with separate and with
/// consolidated commits.
#[test]
fn vacuuming_fragments() {
    let all = fixtures::all().into_iter().chain(fixtures::of_older_releases());
    let (mut arrays, mut gathered) = (0, 0);
    for fixture in all {
        let case = Case::of(&fixture);
        let files = case.files();
        let has_list = files.keys().any(|path| path.ends_with(".vac") && !path.starts_with("__meta"));
        if !has_list || fixture.name().contains("encrypted") {
            continue;
        }
        arrays += 1;
        check(fixture.name(), &files, vacuum(Vacuum::fragments()));
        if files.keys().any(|path| path.starts_with("__commits/")) {
            let joined = then(&then(&files, consolidate(Consolidate::commits())), vacuum(Vacuum::commits()));
            assert!(!joined.keys().any(|path| path.ends_with(".wrt")));
            gathered += 1;
            check(&format!("{}, gathered", fixture.name()), &joined, vacuum(Vacuum::fragments()));
            check(&format!("{}, gathered, all", fixture.name()), &joined, vacuum(Vacuum::all()));
            // Ignored commits must not become visible while the ignore file is deleted.
            let rejoined = then(&then(&joined, vacuum(Vacuum::fragments())), |storage| {
                let last = open(storage).directory().fragments.last().unwrap().clone();
                copy_fragment(&**storage, &last.folder, last.name.end() + 1, last.version.number());
                consolidate(Consolidate::commits())(storage)
            });
            let kinds = kinds(&rejoined);
            assert_eq!((kinds["__commits con"], kinds["__commits ign"]), (2, 1), "{}", fixture.name());
            check(&format!("{}, gathered anew", fixture.name()), &rejoined, vacuum(Vacuum::commits()));
        }
    }
    assert!(arrays >= 5 && gathered >= 3, "{arrays} arrays, {gathered} with gathered commits");
}

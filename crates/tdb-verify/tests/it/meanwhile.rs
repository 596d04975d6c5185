//! Verification and diagnosis of an array while other processes write, consolidate and vacuum.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fragments_support::{Kind, Random, create, dense, open, sparse, storage_of, write_dense, write_sparse};
use crate::support::try_open;
use tdb_advise::{Advise, Sample};
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_schema::{Attribute, Enumeration, SchemaEvolution};
use tdb_array::{MetadataValue, TimeRange, WriteBatch, WriteColumn, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, FragmentPlan, Plan, Vacuum};
use tdb_storage::{LocalStorage, MemoryStorage, Storage};
use tdb_testkit::{Fault, FaultyStorage, MeanwhileStorage, copy_files};
use tdb_types::{Datatype, Layout};
use tdb_verify::{Doctor, FindingKind, Severity, Verify, VerifyReport};

/// A concurrent job.
type Job = fn(&Arc<dyn Storage>);

fn kind(version: u32, duplicates: bool) -> Kind {
    Kind { version, order: Layout::RowMajor, duplicates, first: Datatype::Int32 }
}

/// Writes a fragment.
fn write(storage: &Arc<dyn Storage>, time: u64) {
    let (array, mut random, names) = (open(storage), Random(time), WriteIds::new().seeded(time).at(time));
    match array.schema().is_dense() {
        true => write_dense(storage, &mut random, &names),
        // The format version has no effect here.
        false => write_sparse(storage, &mut random, kind(22, array.schema().allows_duplicates()), &names),
    }
}

fn put(storage: &Arc<dyn Storage>, time: u64) {
    let value = MetadataValue::text(&format!("at {time}")).unwrap();
    open(storage).write_metadata().ids(WriteIds::new().seeded(time).at(time)).put("k", value).commit().unwrap();
}

/// Returns an array with three fragments and metadata of three times. Sparse arrays of the current
/// format also have a delete.
fn filled(number: usize) -> Arc<dyn Storage> {
    let storage = storage_of(&MemoryStorage::new());
    let schema = match number {
        0 => sparse(kind(22, false)),
        1 => sparse(kind(22, true)),
        2 => dense(22, Layout::RowMajor, Layout::RowMajor),
        3 => dense(9, Layout::RowMajor, Layout::RowMajor),
        _ => sparse(kind(9, false)),
    };
    create(&storage, schema);
    for time in 11..14 {
        write(&storage, time);
        put(&storage, time);
    }
    if number < 2 {
        let few = Condition::field("a").lt(2i32);
        open(&storage).delete_cells(&few, &WriteIds::new().seeded(20).at(20)).unwrap();
    }
    storage
}

const KINDS: usize = 5;

fn run(plan: Plan) {
    let report = plan.run().unwrap();
    assert!(report.left.is_empty(), "{:?}", report.left);
}

fn fragments(storage: &Arc<dyn Storage>) {
    let options = ConsolidateFragments::new().ids(WriteIds::new().seeded(30)).amplification(f64::INFINITY);
    options.plan(&open(storage)).unwrap().run().unwrap();
    run(Vacuum::fragments().plan(&open(storage)).unwrap());
}

fn small_files(storage: &Arc<dyn Storage>) {
    // Some formats have no consolidated commits.
    if let Ok(plan) = Consolidate::commits().plan(&open(storage)) {
        run(plan);
    }
    run(Consolidate::footers().plan(&open(storage)).unwrap());
    run(Consolidate::metadata().plan(&open(storage)).unwrap());
    run(Vacuum::all().delete_files(true).plan(&open(storage)).unwrap());
}

fn everything(storage: &Arc<dyn Storage>) {
    small_files(storage);
    write(storage, 40);
    put(storage, 40);
    fragments(storage);
    small_files(storage);
}

fn evolve(storage: &Arc<dyn Storage>) {
    let change = SchemaEvolution::new().add_attribute(Attribute::new("new", Datatype::Int32));
    open(storage).evolve(&change, &WriteIds::new().at(50)).unwrap();
    write(storage, 51);
}

fn verify(storage: Arc<dyn Storage>) -> VerifyReport {
    Verify::new().threads(1).storage(storage).unwrap()
}

/// Runs a check, with the job at each of its operations in turn. Returns the number of operations.
fn at_each_moment(
    number: usize,
    prepare: Job,
    job: Job,
    mut look: impl FnMut(u64, &Arc<dyn Storage>, &MeanwhileStorage),
) -> u64 {
    let mut n = 0;
    loop {
        let disk = filled(number);
        prepare(&disk);
        let storage = MeanwhileStorage::at(disk.clone(), n, job);
        look(n, &disk, &storage);
        if storage.operations() <= n {
            return n;
        }
        n += 1;
    }
}

#[test]
fn verify_finds_nothing_wrong_while_the_array_is_maintained() {
    let jobs: [(&str, Job); 4] =
        [("fragments", fragments), ("small files", small_files), ("everything", everything), ("evolve", evolve)];
    let prepared: [(&str, Job); 3] = [
        ("fresh", |_| ()),
        ("small files", small_files),
        ("consolidated", |storage| {
            ConsolidateFragments::new().amplification(f64::INFINITY).plan(&open(storage)).unwrap().run().unwrap();
        }),
    ];
    for number in 0..KINDS {
        for (before, prepare) in prepared {
            for (what, job) in jobs {
                if before != "fresh" && what != "everything" {
                    continue;
                }
                let moments = at_each_moment(number, prepare, job, |n, _, storage| {
                    let report = verify(Arc::new(storage.clone()));
                    assert!(report.is_sound(), "{number}, {before}, {what} at {n}: {:#?}", report.findings);
                });
                assert!(moments > 20, "{number}, {before}, {what}: {moments}");
            }
        }
    }
}

/// Collects the files below a folder, except those of fragments.
fn small_files_of(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("__fragments") => {}
            true => small_files_of(&path, found),
            false => found.push(path),
        }
    }
}

#[test]
fn a_file_that_is_being_written_is_no_finding() {
    let memory = filled(0);
    let attribute = Attribute::new("colour", Datatype::UInt8).with_enumeration("colours");
    let colours = Enumeration::strings("colours", "", Datatype::StringUtf8, ["red", "green"]).unwrap();
    let change = SchemaEvolution::new().add_enumeration(colours).add_attribute(attribute);
    open(&memory).evolve(&change, &WriteIds::new().at(50)).unwrap();
    run(Consolidate::commits().plan(&open(&memory)).unwrap());
    run(Consolidate::footers().plan(&open(&memory)).unwrap());
    run(Consolidate::metadata().plan(&open(&memory)).unwrap());
    ConsolidateFragments::new().plan(&open(&memory)).unwrap().run().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Storage> = Arc::new(LocalStorage::new(folder.path()));
    copy_files(&*memory, &*disk);
    assert!(verify(disk.clone()).is_sound());
    let mut files = Vec::new();
    small_files_of(folder.path(), &mut files);
    let mut grown = 0;
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let half = || std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        half();
        // A half file without a writer is damaged.
        let damaged = MeanwhileStorage::new(disk.clone(), |_, _| ());
        if verify(Arc::new(damaged.clone())).is_sound() {
            std::fs::write(&path, &bytes).unwrap();
            continue;
        }
        grown += 1;
        // The check runs twice, and the file is complete before the second time.
        let operations = damaged.operations();
        for n in [operations / 3, operations / 2 - 2] {
            half();
            let (path, bytes) = (path.clone(), bytes.clone());
            let storage = MeanwhileStorage::at(disk.clone(), n, move |_| std::fs::write(path, bytes).unwrap());
            let report = verify(Arc::new(storage));
            assert!(report.is_sound(), "at {n} of {operations}: {:#?}", report.findings);
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    // Schemas, an enumeration, commits, deletes, footers, metadata and vacuum files.
    assert!(grown >= 8, "{grown}");
}

#[test]
fn the_doctor_finds_nothing_while_the_array_is_maintained() {
    for number in [0, 2] {
        at_each_moment(
            number,
            |_| (),
            everything,
            |n, _, storage| {
                let shared: Arc<dyn Storage> = Arc::new(storage.clone());
                // Opening may fail on a deleted file, and succeeds when repeated.
                let Ok(array) = try_open(&shared) else { return };
                let found = Doctor::new().plan(&array).unwrap().found().to_vec();
                let wrong: Vec<_> = found.iter().filter(|one| one.severity == Severity::Finding).collect();
                assert!(wrong.is_empty(), "{number} at {n}: {wrong:#?}");
            },
        );
    }
}

#[test]
fn advice_is_given_while_the_array_is_maintained() {
    for number in [0, 2] {
        at_each_moment(
            number,
            |_| (),
            everything,
            |n, _, storage| {
                let shared: Arc<dyn Storage> = Arc::new(storage.clone());
                let advised = Advise::new().sample(Sample::Tiles(4)).run(&open(&shared));
                assert!(advised.is_ok(), "{number} at {n}: {advised:?}");
            },
        );
    }
}

/// The job repeats during each round of the verification.
#[test]
fn verify_ends_during_endless_jobs() {
    for every in [5, 17, 60] {
        let disk = filled(0);
        let storage = MeanwhileStorage::new(disk, move |n, disk| {
            if n % every == every - 1 {
                write(disk, 100 + n);
                put(disk, 100 + n);
                fragments(disk);
                small_files(disk);
            }
        });
        let report = verify(Arc::new(storage));
        assert!(report.is_sound(), "every {every}: {:#?}", report.findings);
    }
}

/// Deletes the data file of an attribute.
fn damage(storage: &Arc<dyn Storage>, folder: &str) {
    storage.remove_file(&format!("{folder}/a0.tdb")).unwrap();
}

#[test]
fn a_file_that_is_really_missing_is_found_while_others_are_replaced() {
    for number in 0..2 {
        at_each_moment(
            number,
            |storage| {
                let first = open(storage).fragments().unwrap()[0].folder().to_owned();
                damage(storage, &first);
            },
            |storage| {
                let rest = TimeRange { start: 12, end: u64::MAX };
                let options = ConsolidateFragments::new().ids(WriteIds::new().seeded(30)).between(rest);
                options.plan(&open(storage)).unwrap().run().unwrap();
                run(Vacuum::fragments().plan(&open(storage)).unwrap());
                run(Consolidate::footers().plan(&open(storage)).unwrap());
            },
            |n, _, storage| {
                let report = verify(Arc::new(storage.clone()));
                let found: Vec<_> = report.findings.iter().filter(|one| one.file.ends_with("a0.tdb")).collect();
                assert!(!found.is_empty() && report.counts().0 <= 2, "{number} at {n}: {report:#?}");
            },
        );
    }
}

#[test]
fn replacements_of_vanished_fragments_are_verified() {
    let mut found = 0;
    at_each_moment(
        0,
        |_| (),
        |storage| {
            fragments(storage);
            let new = open(storage).fragments().unwrap()[0].folder().to_owned();
            damage(storage, &new);
        },
        |n, _, storage| {
            let report = verify(Arc::new(storage.clone()));
            // A check that has read the earlier state completely ignores later states.
            let is_of_before = report.is_sound() && report.fragments == 3;
            let is_found = report.findings.iter().any(|one| one.file.ends_with("a0.tdb"));
            assert!(is_of_before || is_found, "at {n}: {report:#?}");
            found += u32::from(is_found);
        },
    );
    assert!(found > 10, "{found}");
}

/// A write that stopped at any operation looks like a running write. A stop between metadata and
/// commit looks like a lost commit.
#[test]
fn running_writes_are_notes() {
    let write = |storage: &Arc<dyn Storage>| {
        let cells = WriteBatch::new().with("x", &[1i32]).with("y", &[1i32]).with("a", &[1i32]);
        let cells =
            cells.with("s", WriteColumn::optional_strings([Some("s")])).with("n", WriteColumn::options([Some(1.5)]));
        open(storage).write().ids(WriteIds::new().at(60).seeded(60)).cells(cells)
    };
    let sound = FaultyStorage::sound(filled(0));
    write(&(Arc::new(sound.clone()) as _)).unwrap();
    let (mut notes, mut findings) = (0, 0);
    for n in 0..sound.changes() {
        let disk = filled(0);
        let stopped = write(&(Arc::new(FaultyStorage::new(disk.clone(), Fault::Stops, n)) as _));
        let report = verify(disk.clone());
        let is_committed = stopped.is_ok() || report.fragments == 4;
        let uncommitted: Vec<_> = report.findings.iter().filter(|one| one.kind == FindingKind::Uncommitted).collect();
        assert!(uncommitted.len() <= 1 && (uncommitted.is_empty() || !is_committed), "at {n}: {report:#?}");
        for one in &uncommitted {
            let name = one.file.rsplit('/').next().unwrap();
            let has_metadata = disk.exists(&format!("__fragments/{name}/__fragment_metadata.tdb")).unwrap();
            assert_eq!(one.severity == Severity::Finding, has_metadata, "at {n}: {one}");
        }
        findings += report.counts().0;
        notes += uncommitted.len();
    }
    assert!(findings > 0 && notes > 2 * findings, "{findings} of {notes}");
}

/// A stopped job looks like a running job, because this process is alive and holds the lock.
#[test]
fn running_jobs_are_no_findings() {
    let consolidate = |storage: &Arc<dyn Storage>, size: Option<u64>| {
        let array = try_open(storage)?;
        let options = ConsolidateFragments::new().ids(WriteIds::new().seeded(30)).amplification(f64::INFINITY);
        let options = size.into_iter().fold(options, ConsolidateFragments::max_fragment_size);
        options.plan(&array).and_then(FragmentPlan::run).map(drop)
    };
    let vacuum = |storage: &Arc<dyn Storage>| Vacuum::all().plan(&try_open(storage)?)?.run().map(drop);
    for number in [0, 1, 2] {
        let consolidated = || {
            let disk = filled(number);
            consolidate(&disk, None).unwrap();
            disk
        };
        type Disk<'a> = &'a dyn Fn() -> Arc<dyn Storage>;
        type Job<'a> = &'a dyn Fn(&Arc<dyn Storage>) -> Result<(), MaintainError>;
        let jobs: [(Disk<'_>, Job<'_>); 3] = [
            (&|| filled(number), &|storage| consolidate(storage, None)),
            (&|| filled(number), &|storage| consolidate(storage, Some(1))),
            (&consolidated, &vacuum),
        ];
        for (what, (disk, job)) in jobs.into_iter().enumerate() {
            let sound = FaultyStorage::sound(disk());
            job(&(Arc::new(sound.clone()) as _)).unwrap();
            for n in 0..sound.changes() {
                let disk = disk();
                let stopped = job(&(Arc::new(FaultyStorage::new(disk.clone(), Fault::Stops, n)) as _));
                let report = verify(disk);
                assert!(report.is_sound(), "{number}, {what} at {n}, {stopped:?}: {:#?}", report.findings);
            }
        }
    }
}

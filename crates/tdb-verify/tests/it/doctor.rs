//! Leftovers of interrupted jobs: found, quarantined without an effect on readers, and restored.

use std::sync::Arc;

use crate::support::{Case, Files, differences, files, on, open, try_open, unpack};
use tdb_array::{Group, TimeRange};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, Vacuum};
use tdb_storage::Storage;
use tdb_testkit::{Fault, FaultyStorage};
use tdb_verify::{Diagnosis, Doctor, Remedy, Severity};

type Disk = Arc<dyn Storage>;

fn look(storage: &Disk) -> Vec<Diagnosis> {
    Doctor::new().plan(&open(storage)).unwrap().found().to_vec()
}

/// Returns path and remedy of each problem.
fn short(found: &[Diagnosis]) -> Vec<(String, String)> {
    found.iter().map(|one| (one.path.clone(), one.remedy.to_string())).collect()
}

fn mend(storage: &Disk, doctor: &Doctor) -> Result<usize, MaintainError> {
    Ok(doctor.plan(&try_open(storage)?)?.run()?.done.len())
}

/// Returns the path with this ending.
fn path(files: &Files, end: &str) -> String {
    files.keys().find(|path| path.ends_with(end)).unwrap_or_else(|| panic!("no {end}")).clone()
}

fn without(files: &Files, gone: impl Fn(&str) -> bool) -> Files {
    files.iter().filter(|(path, _)| !gone(path)).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

const CONSOLIDATED: &str = "v22-by-2.30.0-dense-consolidated";

/// Returns the name of the consolidated fragment.
fn consolidated(files: &Files) -> String {
    let path = path(files, ".vac");
    path.rsplit('/').next().unwrap().strip_suffix(".vac").unwrap().to_owned()
}

/// Returns an array with all problems that readers do not notice.
fn ailing() -> Files {
    let all = Case::named(CONSOLIDATED).files();
    let name = consolidated(&all);
    let storage = on(&all);
    let temporary = ["__commits/.tdb-9-0.tmp", ".tdb-9-1.tmp"];
    temporary.iter().for_each(|path| storage.create_new(path, b"half").unwrap());
    storage.create_folder("__schema/__enumerations").unwrap();
    storage.create_new("__schema/__enumerations/__0123456789abcdef0123456789abcdef_0", b"x").unwrap();
    // An ignore file without effect, a vacuum file of missing fragments, and an uncommitted
    // fragment.
    storage
        .create_new("__commits/__1_2_0123456789abcdef0123456789abcdef_22.ign", b"__commits/__1_1_a_22.wrt\n")
        .unwrap();
    storage
        .create_new("__commits/__1_2_0123456789abcdef0123456789abcdef_22.vac", b"/__fragments/__1_1_a_22\n")
        .unwrap();
    storage.create_folder("__fragments/__5_5_0123456789abcdef0123456789abcdef_22").unwrap();
    storage.create_new("__fragments/__5_5_0123456789abcdef0123456789abcdef_22/a.tdb", b"x").unwrap();
    // Consolidated footers of missing fragments.
    let array = open(&storage);
    let footers = array.small_files().encode_footers(&[("__1_1_a_22", b"footer")]).unwrap();
    storage.create_folder("__fragment_meta").unwrap();
    storage.create_new("__fragment_meta/__1_1_0123456789abcdef0123456789abcdef_22.meta", &footers).unwrap();
    storage.create_new("notes.txt", b"mine").unwrap();
    assert!(!name.is_empty());
    files(&*storage)
}

fn short_of(found: &[Diagnosis], severity: Severity) -> Vec<&str> {
    found.iter().filter(|one| one.severity == severity).map(|one| one.path.as_str()).collect()
}

#[test]
fn all_of_it_is_found_and_comes_back() {
    let ailing = ailing();
    let storage = on(&ailing);
    let before = Case::on(storage.clone()).history();
    let found = look(&storage);
    let notes = short_of(&found, Severity::Note);
    // Wasted space is a note. Cells that a user may miss are a finding.
    assert_eq!((notes.len(), found.len()), (7, 8), "{notes:?}");
    let grave = short_of(&found, Severity::Finding);
    assert_eq!(grave, ["__fragments/__5_5_0123456789abcdef0123456789abcdef_22"]);
    assert_eq!(found.iter().filter(|one| one.remedy == Remedy::Quarantine).count(), 7, "{:#?}", short(&found));
    assert_eq!(mend(&storage, &Doctor::new()).unwrap(), 7);
    assert_eq!(look(&storage).len(), 1, "{:?}", look(&storage));
    assert_eq!(differences(&before, &Case::on(storage.clone()).history(), &[]), [""; 0]);
    assert!(files(&*storage).keys().any(|path| path == ".tdb-quarantine/1/where-from.txt"));
    let undone = Doctor::new().undo(&open(&storage)).unwrap();
    assert_eq!((undone.restored.len(), undone.occupied.len()), (7, 0));
    assert_eq!(files(&*storage), ailing);
}

/// Repairs are atomic. Readers see the same data at every moment, and the next run completes the
/// repair.
#[test]
fn whatever_breaks() {
    let ailing = ailing();
    let sound = FaultyStorage::sound(on(&ailing));
    mend(&(Arc::new(sound.clone()) as _), &Doctor::new()).unwrap();
    assert!(sound.changes() > 8);
    let before = Case::on(on(&ailing)).history();
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        // The last operation releases the lock, and a destructor cannot report its error.
        for n in 0..sound.changes() - 1 {
            let storage = on(&ailing);
            let result = mend(&(Arc::new(FaultyStorage::new(storage.clone(), fault, n)) as _), &Doctor::new());
            assert!(result.is_err(), "{fault:?} at {n}: the failed repair reported success");
            assert_eq!(differences(&before, &Case::on(storage.clone()).history(), &[]), [""; 0], "{fault:?} at {n}");
            mend(&storage, &Doctor::new().take_over(true)).unwrap();
            assert_eq!(look(&storage).len(), 1, "{fault:?} at {n}");
            assert_eq!(differences(&before, &Case::on(storage.clone()).history(), &[]), [""; 0], "{fault:?} at {n}");
            let undone = Doctor::new().undo(&open(&storage)).unwrap();
            assert_eq!(undone.occupied, [""; 0], "{fault:?} at {n}");
            let back = without(&files(&*storage), |path| path.contains(".tdb-half") || path.contains(".tdb-maintain"));
            assert_eq!(back.keys().collect::<Vec<_>>(), ailing.keys().collect::<Vec<_>>(), "{fault:?} at {n}");
        }
    }
}

#[test]
fn a_consolidated_fragment_without_commit_hides_the_others() {
    let all = Case::named(CONSOLIDATED).files();
    let name = consolidated(&all);
    let lost = without(&all, |path| path == format!("__commits/{name}.wrt"));
    let storage = on(&lost);
    assert!(open(&storage).fragments().unwrap().is_empty(), "the vacuum file hides them");
    let (fragment, list) = (format!("__fragments/{name}"), format!("__commits/{name}.vac"));
    let found = short(&look(&storage));
    assert_eq!(found, [(fragment.clone(), "quarantine".to_owned()), (list.clone(), "quarantine".to_owned())]);
    // Repairs that affect readers run only on request.
    assert_eq!(mend(&storage, &Doctor::new()).unwrap(), 1);
    assert!(open(&storage).fragments().unwrap().is_empty());
    assert_eq!(mend(&storage, &Doctor::new().only([list])).unwrap(), 1);
    assert_eq!(open(&storage).fragments().unwrap().len(), 3);
    let original = without(&all, |path| path.contains(&name));
    assert_eq!(Case::on(storage.clone()).seen(TimeRange::ALL), Case::on(on(&original)).seen(TimeRange::ALL));

    // If the original fragments are missing, the consolidated one may be the only copy.
    let only =
        without(&lost, |path| path.starts_with("__fragments/") && !path.contains(&name) || path.ends_with(".wrt"));
    let storage = on(&only);
    let found = look(&storage);
    assert!(found.iter().all(|one| one.remedy == Remedy::None) && found.len() == 1, "{found:#?}");
    assert!(open(&storage).leftovers().unwrap().is_empty());
    assert!(Vacuum::all().plan(&open(&storage)).unwrap().steps().all(|step| !step.path.contains(&fragment)));
}

#[test]
fn commits_of_lost_fragments() {
    let all = Case::named("v22-by-2.30.0-sparse-2d").files();
    let commit = path(&all, ".wrt");
    let name = commit.strip_prefix("__commits/").unwrap().strip_suffix(".wrt").unwrap().to_owned();
    let lost = without(&all, |path| path.starts_with(&format!("__fragments/{name}/")));
    let storage = on(&lost);
    assert!(open(&storage).fragments().is_err());
    assert_eq!(short(&look(&storage)), [(commit.clone(), "quarantine".to_owned())]);
    assert_eq!(mend(&storage, &Doctor::new()).unwrap(), 0);
    assert_eq!(mend(&storage, &Doctor::new().only([commit])).unwrap(), 1);
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);

    // The commit is consolidated.
    let storage = on(&all);
    Consolidate::commits().plan(&open(&storage)).unwrap().run().unwrap();
    Vacuum::commits().plan(&open(&storage)).unwrap().run().unwrap();
    let gathered = without(&files(&*storage), |path| path.starts_with(&format!("__fragments/{name}/")));
    let storage = on(&gathered);
    assert!(open(&storage).fragments().is_err());
    let list = path(&gathered, ".con");
    assert_eq!(short(&look(&storage)), [(list.clone(), "ignore".to_owned())]);
    assert_eq!(mend(&storage, &Doctor::new().only([list])).unwrap(), 1);
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);
    assert!(look(&storage).is_empty());
    // Readers would fail without the ignore file as long as the fragment is missing.
    let undone = Doctor::new().undo(&open(&storage)).unwrap();
    assert_eq!((undone.removed.len(), undone.outdated.len()), (0, 1));
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);

    // The fragment is restored.
    let storage = on(&gathered);
    let list = path(&gathered, ".con");
    assert_eq!(mend(&storage, &Doctor::new().only([list])).unwrap(), 1);
    let put = |(path, bytes): (&String, &Vec<u8>)| {
        storage.create_folder(path.rsplit_once('/').unwrap().0).unwrap();
        storage.create_new(path, bytes).unwrap();
    };
    all.iter().filter(|(path, _)| path.starts_with(&format!("__fragments/{name}/"))).for_each(put);
    assert_eq!(Doctor::new().undo(&open(&storage)).unwrap().removed.len(), 1);
    assert_eq!(open(&storage).fragments().unwrap().len(), 2);
}

/// The fragments of a quarantined list were consolidated and vacuumed later.
#[test]
fn outdated_files_stay_in_quarantine() {
    let storage = on(&Case::named("v22-by-2.30.0-sparse-2d").files());
    let consolidate = || Consolidate::commits().plan(&open(&storage)).unwrap().run().unwrap();
    consolidate();
    let first = path(&files(&*storage), ".con");
    // A second file with the same commits.
    let bytes = storage.read(&first).unwrap();
    let second = "__commits/__1_9_0123456789abcdef0123456789abcdef_22.con";
    storage.create_new(second, &bytes).unwrap();
    assert_eq!(mend(&storage, &Doctor::new()).unwrap(), 1);
    ConsolidateFragments::new().amplification(f64::INFINITY).plan(&open(&storage)).unwrap().run().unwrap();
    Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
    assert!(!files(&*storage).keys().any(|path| path.ends_with(".con") && !path.contains("quarantine")));
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);
    let before = Case::on(storage.clone()).seen(TimeRange::ALL);
    let undone = Doctor::new().undo(&open(&storage)).unwrap();
    assert_eq!((undone.restored.len(), undone.outdated.len()), (0, 1), "{undone:?}");
    assert_eq!(Case::on(storage.clone()).seen(TimeRange::ALL), before);
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);
}

#[test]
fn only_one_doctor_runs() {
    let storage = on(&ailing());
    storage.create_new(".tdb-maintain.tmp", b"process 1\non elsewhere\n").unwrap();
    let found = look(&storage);
    let is_other = |one: &Diagnosis| one.path != ".tdb-maintain.tmp";
    assert_eq!(found.iter().filter(|one| is_other(one)).count() + 1, found.len());
    let error = Doctor::new().plan(&open(&storage)).unwrap().retain(is_other).run().unwrap_err();
    assert!(matches!(error, MaintainError::Busy { .. }), "{error}");
    // The lock of a process that may be alive is taken over only on request.
    let lock = found.iter().find(|one| one.path == ".tdb-maintain.tmp").unwrap();
    assert_eq!(lock.remedy, Remedy::TakeOver);
    assert!(!Doctor::new().plan(&open(&storage)).unwrap().repairs(lock));
    let error = Doctor::new().plan(&open(&storage)).unwrap().run().unwrap_err();
    assert!(matches!(error, MaintainError::Busy { .. }), "{error}");
    let mended = Doctor::new().only([".tdb-maintain.tmp"]).plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(mended.done.len(), 1);
    assert!(!storage.exists(".tdb-maintain.tmp").unwrap());
    assert_eq!(Doctor::new().plan(&open(&storage)).unwrap().retain(is_other).run().unwrap().done.len(), 7);
}

/// The lock of a living process stays, and the lock of a dead process is repaired.
#[cfg(target_os = "linux")]
#[test]
fn locks_of_living_processes_stay() {
    let read = |path: &str| std::fs::read_to_string(path).unwrap().trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let (host, boot) = (read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"));
    let put = |storage: &dyn Storage, process: u32| {
        let text = format!("process {process}\non {host} {boot} {}\ntoken a\n", namespace.display());
        storage.create_new(".tdb-maintain.tmp", text.as_bytes()).unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    Group::create(folder.path().join("group")).unwrap();
    let group = || Group::open(folder.path().join("group")).unwrap();
    for (process, is_dead) in [(std::process::id(), false), (u32::MAX, true)] {
        let storage = on(&Case::named(CONSOLIDATED).files());
        put(&*storage, process);
        put(&**group().storage(), process);
        let (in_array, in_group) = (look(&storage), Doctor::new().plan(&group()).unwrap().found().to_vec());
        let expected = if is_dead { Remedy::Quarantine } else { Remedy::TakeOver };
        assert_eq!((&in_array[0].remedy, &in_group[0].remedy), (&expected, &expected));
        assert_eq!(Doctor::new().plan(&open(&storage)).unwrap().run().unwrap().done.len(), usize::from(is_dead));
        assert_eq!(Doctor::new().plan(&group()).unwrap().run().unwrap().done.len(), usize::from(is_dead));
        assert_eq!(storage.exists(".tdb-maintain.tmp").unwrap(), !is_dead);
        assert_eq!(group().storage().exists(".tdb-maintain.tmp").unwrap(), !is_dead);
        if !is_dead {
            group().storage().remove_file(".tdb-maintain.tmp").unwrap();
        }
    }
}

const PLAIN: &str = "v22-by-2.30.0-sparse-2d";

#[test]
fn members_that_were_moved() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let old = root.join("old");
    Group::create(&old).unwrap();
    ["a", "b", "c"].iter().for_each(|name| unpack(PLAIN, &old.join(name)));
    unpack(PLAIN, &root.join("elsewhere"));
    let uri = |name: &str| old.join(name).to_str().unwrap().to_owned();
    let change = Group::open(&old).unwrap().change();
    let change = change.add(uri("a"), false, Some("first")).add(uri("b"), false, None).add("c", true, None);
    change.add(root.join("elsewhere").to_str().unwrap(), false, None).commit().unwrap();
    let keys = |found: &[Diagnosis]| -> Vec<(String, bool)> {
        found.iter().map(|one| (one.path.clone(), matches!(one.remedy, Remedy::Relative { .. }))).collect()
    };
    let b = format!("file://{}", uri("b"));
    let found = Doctor::new().plan(&Group::open(&old).unwrap()).unwrap().found().to_vec();
    assert_eq!(keys(&found), [(b.clone(), true), ("first".to_owned(), true)]);

    let new = root.join("new");
    std::fs::rename(&old, &new).unwrap();
    std::fs::remove_dir_all(new.join("c")).unwrap();
    let group = || Group::open(&new).unwrap();
    let found = Doctor::new().plan(&group()).unwrap().found().to_vec();
    assert_eq!(keys(&found), [("c".to_owned(), false), (b, true), ("first".to_owned(), true)]);
    assert_eq!(Doctor::new().plan(&group()).unwrap().run().unwrap().done.len(), 2);
    let place = |key: &str| group().member(key).map(|member| (member.uri.clone(), member.relative));
    assert_eq!((place("first"), place("b")), (Some(("a".to_owned(), true)), Some(("b".to_owned(), true))));
    assert_eq!(Doctor::new().plan(&group()).unwrap().found().len(), 1);
    Doctor::new().undo(&group()).unwrap();
    assert_eq!(Doctor::new().plan(&group()).unwrap().found().len(), 3);
}

/// A clock that adds members to a group. It is read just before the doctor writes members.
#[derive(Debug)]
struct Beside(std::path::PathBuf, Arc<std::sync::atomic::AtomicBool>);

impl tdb_array::Clock for Beside {
    fn now(&self) -> std::io::Result<u64> {
        if self.1.load(std::sync::atomic::Ordering::Relaxed) {
            std::fs::write(&self.0, "of somebody else")?;
        }
        Ok(1_700_000_000_000)
    }
}

#[test]
fn concurrent_changes_are_not_undone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    Group::create(root.join("g")).unwrap();
    unpack(PLAIN, &root.join("g/a"));
    let whole = root.join("g/a").to_str().unwrap().to_owned();
    Group::open(root.join("g")).unwrap().change().add(whole, false, None).commit().unwrap();
    let other = root.join("g/__group/__1_1_0123456789abcdef0123456789abcdef_2");
    let is_there = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let environment = tdb_array::Environment::system().with_clock(Beside(other.clone(), is_there.clone()));
    let options = tdb_array::GroupOptions::new().between(TimeRange::ALL).environment(environment);
    let group = options.open(root.join("g")).unwrap();
    let plan = Doctor::new().plan(&group).unwrap();
    is_there.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(plan.run().unwrap().done.len(), 1);
    assert!(other.exists());
    assert_eq!(Doctor::new().undo(&group).unwrap().removed, [""; 0]);
    assert!(other.exists());
}

/// A file with the name of the lock blocks all jobs. The doctor reports the file and keeps it.
#[test]
fn files_that_are_not_locks_are_found() {
    for is_folder in [false, true] {
        let storage = on(&Case::named(CONSOLIDATED).files());
        match is_folder {
            true => storage.create_folder(".tdb-maintain.tmp/mine").unwrap(),
            false => storage.create_new(".tdb-maintain.tmp", &[b'x'; 5000]).unwrap(),
        }
        let found = look(&storage);
        let paths: Vec<(&str, Severity, &Remedy)> =
            found.iter().map(|one| (one.path.as_str(), one.severity, &one.remedy)).collect();
        assert_eq!(paths, [(".tdb-maintain.tmp", Severity::Finding, &Remedy::None)]);
        assert!(found[0].why.contains("move it elsewhere"), "{}", found[0]);
        let error = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap_err();
        assert!(matches!(error, MaintainError::NotALock { .. }), "{error}");
    }
}

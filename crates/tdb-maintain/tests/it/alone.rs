//! Consolidation and vacuum lose no data: with concurrent processes, after a crash, and with
//! foreign files.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::fragments_support::{cells_at, create, open, storage_of};
use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder, SchemaEvolution};
use tdb_array::{ArrayOptions, WriteBatch, WriteIds};
use tdb_job::MaintainError;
use tdb_maintain::{Consolidate, ConsolidateFragments, FragmentPlan, Reason, Vacuum};
use tdb_storage::{MemoryStorage, Result, Storage, StorageError, WriteFile, forward_storage};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::{Datatype, FormatVersion, Limits};

const LOCK: &str = ".tdb-maintain.tmp";
const JOURNAL: &str = ".tdb-journal-x.tmp";

type Deed = Box<dyn FnOnce(&Arc<dyn Storage>) + Send>;

/// The moment at which another process acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Before a file is created in one operation.
    Makes,
    /// After that operation.
    Made,
    /// Before a file is opened for writing in pieces.
    Begins,
    /// Before a file is deleted.
    Removes,
}

/// A storage in which another process acts once.
struct Meanwhile {
    inner: Arc<dyn Storage>,
    moment: Moment,
    /// Part of the file's path.
    part: &'static str,
    deed: Mutex<Option<Deed>>,
}

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Wraps a storage. The deed runs once, when an operation concerns a file with `part` in its path.
fn meanwhile(
    storage: &Arc<dyn Storage>,
    moment: Moment,
    part: &'static str,
    deed: impl FnOnce(&Arc<dyn Storage>) + Send + 'static,
) -> Arc<dyn Storage> {
    Arc::new(Meanwhile { inner: storage.clone(), moment, part, deed: Mutex::new(Some(Box::new(deed))) })
}

impl Meanwhile {
    fn reach(&self, moment: Moment, path: &str) {
        if moment == self.moment && path.contains(self.part) {
            let deed = self.deed.lock().unwrap().take();
            deed.into_iter().for_each(|deed| deed(&self.inner));
        }
    }
}

impl Storage for Meanwhile {
    forward_storage!(|this| this.inner => list, open, open_sized, profile, fetch_one, fetch, kind, sub, describe, uri);
    forward_storage!(|this| this.inner => create_folder, sync_folder, remove_folder);

    fn create_new(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.reach(Moment::Makes, path);
        self.inner.create_new(path, bytes)?;
        self.reach(Moment::Made, path);
        Ok(())
    }

    fn create_file(&self, path: &str) -> Result<Box<dyn WriteFile>> {
        self.reach(Moment::Begins, path);
        self.inner.create_file(path)
    }

    fn remove_file(&self, path: &str) -> Result<()> {
        self.reach(Moment::Removes, path);
        self.inner.remove_file(path)
    }
}

/// Returns a sparse array with tiles of three cells and two fragments of twelve cells each.
fn array(version: u32, duplicates: bool) -> Arc<dyn Storage> {
    let storage = storage_of(&MemoryStorage::new());
    let x = Dimension::new("x", 0i32..=99).with_tile(10);
    let schema = SchemaBuilder::sparse().version(FormatVersion::new(version).unwrap()).capacity(3).dimension(x);
    let schema = schema.allows_duplicates(duplicates).attribute(Attribute::new("a", Datatype::Int32));
    create(&storage, schema.build().unwrap());
    (0..2).for_each(|number| write(&storage, 11 + number, i32::try_from(number).unwrap() * 12));
    storage
}

fn write(storage: &Arc<dyn Storage>, time: u64, first: i32) {
    let (x, a): (Vec<i32>, Vec<i32>) = (first..first + 12).map(|x| (x, x * 10)).unzip();
    let cells = WriteBatch::new().with("x", &x).with("a", &a);
    open(storage).write().ids(WriteIds::new().at(time).seeded(time)).cells(cells).unwrap();
}

fn entries(storage: &Arc<dyn Storage>, folder: &str) -> Vec<String> {
    storage.list(folder).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// Returns the names of temporary files in the root.
fn temporary(storage: &Arc<dyn Storage>) -> Vec<String> {
    entries(storage, "").into_iter().filter(|name| tdb_storage::is_temporary(name)).collect()
}

/// Returns the owner of a lock that is certainly dead.
fn dead() -> Vec<u8> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap().trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let (host, boot) = (read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"));
    format!("process {}\non {host} {boot} {}\n", u32::MAX, namespace.display()).into_bytes()
}

fn alive() -> Vec<u8> {
    String::from_utf8(dead()).unwrap().replace(&u32::MAX.to_string(), &std::process::id().to_string()).into_bytes()
}

fn is_busy<T: fmt::Debug>(result: &std::result::Result<T, MaintainError>) {
    assert!(matches!(result, Err(MaintainError::Busy { path, .. }) if path.ends_with(LOCK)), "{result:?}");
}

/// Before format 12, each of several new fragments has a separate commit.
#[test]
fn a_vacuum_wants_all_new_fragments() {
    for version in [22, 14, 11, 9, 7] {
        for number in 0..4 {
            for is_whole in [false, true] {
                let storage = array(version, false);
                let report =
                    ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
                let new = &report.steps[0].fragments;
                assert!(new.len() > 4, "{report}");
                let name = &new[new.len() - 1 - number];
                let folder = if version >= 12 { format!("__fragments/{name}") } else { name.to_string() };
                if is_whole && version < 12 {
                    // Deletes the commit with the fragment.
                    storage.remove_folder(&folder).unwrap();
                    storage.remove_file(&format!("{name}.ok")).unwrap();
                } else {
                    let file = entries(&storage, &folder).into_iter().find(|file| file.starts_with('a')).unwrap();
                    storage.remove_file(&format!("{folder}/{file}")).unwrap();
                }
                let before = entries(&storage, "");
                let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
                assert!(report.steps.is_empty(), "{version}, {number}: {report:?}");
                assert_eq!(report.left.len(), 1, "{version}, {number}: {report:?}");
                assert_eq!(entries(&storage, ""), before);
            }
        }
    }
}

/// Deletes one of several new fragments and its commit.
fn lose(storage: &Arc<dyn Storage>, name: &str) {
    storage.remove_folder(name).unwrap();
    storage.remove_file(&format!("{name}.ok")).unwrap();
}

/// Returns why a vacuum keeps the only vacuum file.
fn left(storage: &Arc<dyn Storage>) -> Option<Reason> {
    let before = entries(storage, "");
    let mut report = Vacuum::fragments().plan(&open(storage)).unwrap().run().unwrap();
    assert!(report.left.len() < 2 && report.steps.is_empty() != report.left.is_empty(), "{report:?}");
    assert!(report.left.is_empty() || entries(storage, "") == before, "{report:?}");
    report.left.pop().map(|left| left.why)
}

/// New fragments have fewer cells than the old ones if coordinates repeat.
#[test]
fn a_vacuum_requires_all_visible_cells() {
    let copies = [11, 9, 7].into_iter().flat_map(|version| [(version, false), (version, true)]);
    for (version, duplicates) in copies {
        let joined = || {
            let storage = array(version, duplicates);
            write(&storage, 20, 6);
            let report = ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
            (storage, report.steps[0].fragments.clone(), report.steps[0].cells)
        };
        let (storage, new, cells) = joined();
        assert_eq!(cells, if duplicates { 36 } else { 24 });
        let before = cells_at(&storage, 50);
        assert!(left(&storage).is_none());
        assert_eq!(cells_at(&storage, 50), before);
        for number in 1..new.len() - 1 {
            let (storage, new, _) = joined();
            lose(&storage, new[number].as_str());
            let why = left(&storage);
            let all = if duplicates { 36 } else { 24 };
            let is_told = matches!(why, Some(Reason::Fewer { there, replaced }) if there == all - 3 && replaced == all);
            assert!(is_told, "{version}, {number}: {why:?}");
        }
    }
}

/// The missing fragment is in the middle of several dense ones.
#[test]
fn a_vacuum_requires_all_new_dense_fragments() {
    let joined = || {
        let storage = storage_of(&MemoryStorage::new());
        let x = Dimension::new("x", 0i32..=99).with_tile(10);
        let schema = SchemaBuilder::dense().version(FormatVersion::new(11).unwrap()).dimension(x);
        create(&storage, schema.attribute(Attribute::new("a", Datatype::Int32)).build().unwrap());
        for number in 0..2 {
            let a: Vec<i32> = (0..35).collect();
            let write = open(&storage).write().ids(WriteIds::new().at(11 + number).seeded(number));
            let first = 5 + 35 * i32::try_from(number).unwrap();
            write.range("x", first..=first + 34).unwrap().cells(WriteBatch::new().with("a", &a)).unwrap();
        }
        let consolidate = ConsolidateFragments::new().max_fragment_size(1).amplification(2.0).budget(1);
        let report = consolidate.plan(&open(&storage)).unwrap().run().unwrap();
        (storage, report.steps[0].fragments.clone())
    };
    let (storage, new) = joined();
    assert!(new.len() > 2, "{new:?}");
    assert!(left(&storage).is_none());
    for number in 1..new.len() {
        let (storage, new) = joined();
        lose(&storage, new[number].as_str());
        let why = left(&storage);
        assert!(matches!(why, Some(Reason::Uncovered { .. })), "{number}: {why:?}");
    }
}

/// New fragments were consolidated again, with each other or with later writes.
#[test]
fn a_vacuum_follows_repeated_consolidations() {
    for (duplicates, later) in [(false, false), (false, true), (true, false), (true, true)] {
        let joined = |lost: Option<usize>, again: [usize; 2]| {
            let storage = array(11, duplicates);
            let report = ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
            let new: Vec<String> = report.steps[0].fragments.iter().map(ToString::to_string).collect();
            assert!(new.len() > 4, "{report}");
            let mut chosen: Vec<String> = again.map(|number| new[number].clone()).into();
            if later {
                // Without cell timestamps the fragment cannot be consolidated with others that it
                // overlaps.
                write(&storage, 30, if duplicates { 9 } else { 30 });
                chosen = vec![
                    new[new.len() - 1].clone(),
                    open(&storage).fragments().unwrap().last().unwrap().name().to_string(),
                ];
            }
            lost.into_iter().for_each(|number| lose(&storage, &new[number]));
            ConsolidateFragments::new().fragments(chosen).plan(&open(&storage)).unwrap().run().unwrap();
            storage
        };
        for again in [[0, 1], [3, 4]] {
            // Complete.
            let storage = joined(None, again);
            let before = cells_at(&storage, 50);
            let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
            assert!(report.left.is_empty(), "{duplicates} {later} {again:?}: {report:?}");
            assert_eq!(cells_at(&storage, 50), before);
            assert!(!entries(&storage, "").iter().any(|name| name.ends_with(".vac")));
            // A fragment that was not consolidated again is lost.
            let storage = joined(Some(2), again);
            let before = entries(&storage, "");
            let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
            assert_eq!(report.left.len(), 2, "{duplicates} {later} {again:?}: {report:?}");
            assert!(report.steps.is_empty(), "{report:?}");
            assert_eq!(entries(&storage, ""), before);
        }
    }
}

/// The replacement of one of several new fragments was vacuumed in part.
#[test]
fn an_interrupted_vacuum_of_repeated_consolidations_continues() {
    for duplicates in [false, true] {
        let prepared = || {
            let storage = array(11, duplicates);
            let report = ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
            let last = report.steps[0].fragments.last().unwrap().to_string();
            // Without cell timestamps the fragment cannot be consolidated with others that it
            // overlaps.
            write(&storage, 30, if duplicates { 9 } else { 30 });
            let newer = open(&storage).fragments().unwrap().last().unwrap().name().to_string();
            ConsolidateFragments::new().fragments([last, newer]).plan(&open(&storage)).unwrap().run().unwrap();
            storage
        };
        let before = cells_at(&prepared(), 50);
        let sound = FaultyStorage::sound(prepared());
        let vacuum = |storage: &Arc<dyn Storage>| -> std::result::Result<usize, MaintainError> {
            let array = ArrayOptions::new().threads(1).open_on(storage.clone())?;
            Ok(Vacuum::fragments().plan(&array)?.take_over(true).run()?.left.len())
        };
        assert_eq!(vacuum(&(Arc::new(sound.clone()) as _)).unwrap(), 0);
        for n in 0..sound.changes() {
            let storage = prepared();
            let _ = vacuum(&(Arc::new(FaultyStorage::new(storage.clone(), Fault::Stops, n)) as _));
            assert_eq!(cells_at(&storage, 50), before, "{duplicates} at {n}");
            assert_eq!(vacuum(&storage).unwrap(), 0, "{duplicates} at {n}");
            assert_eq!(cells_at(&storage, 50), before, "{duplicates} at {n}");
            assert!(!entries(&storage, "").iter().any(|name| name.ends_with(".vac")), "{duplicates} at {n}");
        }
    }
}

/// An unreadable old fragment may have any content.
#[test]
fn a_vacuum_keeps_fragments_that_cannot_be_compared() {
    for is_cut in [true, false] {
        let storage = array(11, false);
        let replaced: Vec<String> =
            open(&storage).fragments().unwrap().iter().map(|fragment| fragment.name().to_string()).collect();
        let report = ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
        lose(&storage, report.steps[0].fragments[2].as_str());
        assert!(matches!(left(&storage), Some(Reason::Fewer { .. })));
        for name in &replaced {
            let file = format!("{name}/__fragment_metadata.tdb");
            storage.remove_file(&file).unwrap();
            if is_cut {
                storage.create_new(&file, b"cut").unwrap();
            }
        }
        let why = left(&storage);
        assert!(matches!(why, Some(Reason::Unsound(_))), "{is_cut}: {why:?}");
    }
}

/// Without losses, the vacuum deletes all old fragments.
#[test]
fn a_vacuum_of_several_new_fragments() {
    for version in [22, 14, 11, 9, 7] {
        let storage = array(version, false);
        let before = cells_at(&storage, 50);
        ConsolidateFragments::new().max_fragment_size(1).plan(&open(&storage)).unwrap().run().unwrap();
        let report = Vacuum::fragments().plan(&open(&storage)).unwrap().run().unwrap();
        assert!(report.left.is_empty() && report.steps.len() > 2, "{version}: {report:?}");
        assert_eq!(cells_at(&storage, 50), before);
    }
}

/// A late process has read the lock of a dead one. Another process has taken it over in the
/// meantime.
#[test]
#[cfg(target_os = "linux")]
fn only_one_takes_over() {
    for part in [LOCK, ".tdb-takeover-"] {
        for moment in [Moment::Makes, Moment::Made, Moment::Removes] {
            let storage = array(22, true);
            let before = cells_at(&storage, 50);
            storage.create_new(LOCK, &dead()).unwrap();
            let files = open(&storage).directory().fragments.len();
            let taken: Arc<Mutex<bool>> = Arc::default();
            let is_taken = taken.clone();
            let other = move |storage: &Arc<dyn Storage>| {
                // Runs the library while the late process is in the middle of a takeover.
                let result = ConsolidateFragments::new().plan(&open(storage)).and_then(FragmentPlan::run);
                *is_taken.lock().unwrap() = result.is_ok();
                assert!(matches!(result, Ok(_) | Err(MaintainError::Busy { .. })), "{result:?}");
            };
            let late = meanwhile(&storage, moment, part, other);
            let result = ConsolidateFragments::new().plan(&open(&late)).and_then(FragmentPlan::run);
            assert!(matches!(result, Ok(_) | Err(MaintainError::Busy { .. })), "{result:?}");
            assert!(result.is_ok() || *taken.lock().unwrap(), "no process has taken over the lock");
            assert_eq!((cells_at(&storage, 50), files), (before, 2));
            assert_eq!((open(&storage).fragments().unwrap().len(), temporary(&storage)), (1, Vec::new()));
        }
    }
}

/// The late process finds the lock of the other one and leaves it alone.
#[test]
#[cfg(target_os = "linux")]
fn a_late_process_leaves_the_lock() {
    let storage = array(22, true);
    storage.create_new(LOCK, &dead()).unwrap();
    let before = entries(&storage, "__fragments");
    let other = |storage: &Arc<dyn Storage>| {
        storage.remove_file(LOCK).unwrap();
        storage.create_new(LOCK, &alive()).unwrap();
    };
    let late = meanwhile(&storage, Moment::Makes, ".tdb-takeover-", other);
    is_busy(&ConsolidateFragments::new().plan(&open(&late)).and_then(FragmentPlan::run));
    assert_eq!(storage.read(LOCK).unwrap(), alive());
    assert_eq!((entries(&storage, "__fragments"), temporary(&storage)), (before, vec![LOCK.to_owned()]));
}

/// Several processes find the lock of a dead one. The losers report it as busy.
#[test]
#[cfg(target_os = "linux")]
fn many_take_over() {
    for _ in 0..20 {
        let storage = array(22, true);
        let before = cells_at(&storage, 50);
        storage.create_new(LOCK, &dead()).unwrap();
        let arrays: Vec<_> = (0..6).map(|_| open(&storage)).collect();
        let run = |array| ConsolidateFragments::new().plan(array).and_then(FragmentPlan::run);
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = arrays.iter().map(|array| scope.spawn(move || run(array))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let joined = results.iter().filter(|result| matches!(result, Ok(report) if !report.steps.is_empty())).count();
        assert_eq!(joined, 1, "{results:?}");
        let is_known =
            |result: &std::result::Result<_, MaintainError>| matches!(result, Ok(_) | Err(MaintainError::Busy { .. }));
        assert!(results.iter().all(is_known), "{results:?}");
        assert_eq!(cells_at(&storage, 50), before);
        assert_eq!(temporary(&storage), [""; 0]);
    }
}

/// A second process takes over the lock although the first one is alive.
#[test]
fn a_process_without_its_lock_commits_nothing() {
    let other = |storage: &Arc<dyn Storage>| {
        storage.remove_file(LOCK).unwrap();
        storage.create_new(LOCK, b"process 7\non elsewhere\n").unwrap();
    };
    for (moment, part) in [(Moment::Begins, "__fragments"), (Moment::Made, ".tdb-journal-")] {
        let storage = array(22, false);
        let before = (cells_at(&storage, 50), entries(&storage, "__commits"), entries(&storage, "__fragments"));
        let late = meanwhile(&storage, moment, part, other);
        is_busy(&ConsolidateFragments::new().plan(&open(&late)).and_then(FragmentPlan::run));
        let now = (cells_at(&storage, 50), entries(&storage, "__commits"), entries(&storage, "__fragments"));
        assert_eq!((now, temporary(&storage)), (before, vec![LOCK.to_owned()]), "only the lock was added");
    }
    // The other process has rolled back the journal.
    let storage = array(22, false);
    let before = (cells_at(&storage, 50), entries(&storage, "__commits"));
    let other = |storage: &Arc<dyn Storage>| {
        let journal = temporary(storage).into_iter().find(|name| name.starts_with(".tdb-journal-")).unwrap();
        storage.remove_file(&journal).unwrap();
    };
    let late = meanwhile(&storage, Moment::Made, ".tdb-journal-", other);
    let result = ConsolidateFragments::new().plan(&open(&late)).and_then(FragmentPlan::run);
    assert!(matches!(result, Err(MaintainError::Conflict { .. })), "{result:?}");
    assert_eq!((cells_at(&storage, 50), entries(&storage, "__commits")), before);
}

#[test]
#[cfg(target_os = "linux")]
fn all_kinds_of_maintenance_exclude_each_other() {
    let storage = array(22, false);
    ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    write(&storage, 20, 50);
    storage.create_new(LOCK, &alive()).unwrap();
    let before = entries(&storage, "__commits");
    let array = open(&storage);
    is_busy(&ConsolidateFragments::new().plan(&array).and_then(FragmentPlan::run));
    is_busy(&Consolidate::commits().plan(&array).unwrap().run());
    is_busy(&Consolidate::footers().plan(&array).unwrap().run());
    is_busy(&Vacuum::all().plan(&array).unwrap().run());
    assert_eq!(entries(&storage, "__commits"), before);
    // A run without steps needs no lock.
    let empty = self::array(22, false);
    empty.create_new(LOCK, &alive()).unwrap();
    assert!(Vacuum::all().plan(&open(&empty)).unwrap().run().unwrap().steps.is_empty());
    // On request, the lock of a living process is taken over.
    assert_eq!(Consolidate::commits().plan(&array).unwrap().take_over(true).run().unwrap().steps.len(), 1);
    assert_eq!(temporary(&storage), [""; 0]);
    // The lock of a dead process does not matter.
    storage.create_new(LOCK, &dead()).unwrap();
    Vacuum::all().plan(&array).unwrap().run().unwrap();
    assert_eq!((open(&storage).fragments().unwrap().len(), temporary(&storage)), (2, Vec::new()));
}

/// The reference library ignores the lock. Its vacuum deletes fragments while their commits are
/// consolidated.
#[test]
fn commits_of_fragments_deleted_meanwhile_do_not_count() {
    let storage = array(22, false);
    ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    let before = cells_at(&storage, 50);
    let vacuum = |storage: &Arc<dyn Storage>| {
        let array = open(storage);
        let lists: Vec<String> = entries(storage, "__commits");
        for entry in &array.directory().replaced {
            storage.remove_file(&format!("__commits/{}.wrt", entry.name)).unwrap();
            storage.remove_folder(&entry.folder).unwrap();
        }
        for list in lists.iter().filter(|name| name.ends_with(".vac")) {
            storage.remove_file(&format!("__commits/{list}")).unwrap();
        }
    };
    let late = meanwhile(&storage, Moment::Makes, ".con", vacuum);
    let _ = Consolidate::commits().plan(&open(&late)).unwrap().run().unwrap();
    assert!(entries(&storage, "__commits").iter().any(|name| name.ends_with(".con")));
    assert_eq!(open(&storage).fragments().unwrap().len(), 1);
    assert_eq!(cells_at(&storage, 50), before);
    Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!(cells_at(&storage, 50), before);
}

/// Returns the path of a journal, which derives from the name of the vacuum file.
fn journal_path(journal: &str) -> String {
    let vacuum = journal.lines().nth(1).and_then(|line| line.strip_prefix("vacuum "));
    let name = vacuum.and_then(|path| path.rsplit('/').next()?.strip_suffix(".vac")).unwrap_or("x");
    let unique: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!(".tdb-journal-{unique}.tmp")
}

/// Journals that no run of this library has written.
#[test]
fn journals_of_strangers_remove_nothing() {
    let title = "tdb journal of joined fragments 1\n";
    let other = "__11_12_00000000000000000000000000000001_22";
    let none = "__30_31_00000000000000000000000000000002_22";
    let storage = array(22, false);
    let fragments = open(&storage).directory().fragments.clone();
    let (own, list) = (&fragments[0], format!("/{}\n/{}\n", fragments[0].folder, fragments[1].folder));
    let good =
        format!("{title}vacuum __commits/{other}.vac\noutput __fragments/{other} __commits/{other}.wrt\n\n{list}");
    let journals = [
        "tdb journal of something else\n\n".to_owned(),
        format!("{title}vacuum __commits/nope.vac\noutput __schema \n\n"),
        format!("{title}vacuum __commits/{other}.vac\noutput __schema \n\n{list}"),
        format!("{title}vacuum __commits/{other}.vac\noutput __fragments/../__schema __commits/{other}.wrt\n\n{list}"),
        format!("{title}vacuum __schema/{other}.vac\noutput __fragments/{other} __commits/{other}.wrt\n\n{list}"),
        format!("{title}vacuum __commits/{other}.vac\noutput __fragments/{other} __schema\n\n{list}"),
        format!("{title}vacuum __commits/{other}.vac\noutput __fragments/{other} __commits/{other}.wrt\n\n/__schema\n"),
        // A visible fragment next to an uncommitted one.
        format!(
            "{title}vacuum __commits/{0}.vac\noutput {1} __commits/{0}.wrt\noutput __fragments/{other} __commits/{other}.wrt\n\n{list}",
            own.name, own.folder
        ),
        // The replaced fragments have other times.
        format!("{title}vacuum __commits/{none}.vac\noutput __fragments/{none} __commits/{none}.wrt\n\n{list}"),
    ];
    let before = cells_at(&storage, 50);
    // The valid journal is executed, so the common parts of the journals are not the reason.
    storage.create_folder(&format!("__fragments/{other}")).unwrap();
    storage.create_new(&journal_path(&good), good.as_bytes()).unwrap();
    let report = Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
    assert_eq!((report.recovered, report.left.len(), temporary(&storage)), (1, 0, Vec::new()));
    assert!(!storage.exists(&format!("__fragments/{other}")).unwrap(), "the journal was not rolled back");
    for journal in journals {
        let storage = array(22, false);
        storage.create_folder(&format!("__fragments/{none}")).unwrap();
        let path = journal_path(&journal);
        storage.create_new(&path, journal.as_bytes()).unwrap();
        let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!(report.recovered, 0, "{journal}");
        assert_eq!(storage.read(&path).unwrap(), journal.as_bytes(), "a foreign journal was changed");
        assert!(storage.exists("__schema").unwrap() && storage.exists(&format!("__fragments/{none}")).unwrap());
        assert_eq!(cells_at(&storage, 50), before, "{journal}");
        let report = Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
        assert!(report.left.iter().any(|left| left.path == path), "{report:?}");
        assert_eq!(cells_at(&storage, 50), before, "{journal}");
    }
}

/// Fragments whose originals are partly deleted are the only copy.
#[test]
fn journals_do_not_delete_the_only_copy() {
    for version in [22, 11, 9] {
        let storage = array(version, false);
        let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        let name = report.steps[0].fragments[0].clone();
        let list = storage.read(&report.steps[0].vacuum_file).unwrap();
        Vacuum::all().plan(&open(&storage)).unwrap().run().unwrap();
        let before = cells_at(&storage, 50);
        let other = format!("__11_12_00000000000000000000000000000001_{version}");
        let output = |name: &str| match version {
            22 => format!("output __fragments/{name} __commits/{name}.wrt\n"),
            _ => format!("output {name} {name}.ok\n"),
        };
        let (own, other) = (output(name.as_str()), output(&other));
        let head = format!("tdb journal of joined fragments 1\nvacuum {}\n{own}{other}\n", report.steps[0].vacuum_file);
        let path = journal_path(&head);
        storage.create_new(&path, &[head.as_bytes(), &list].concat()).unwrap();
        let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!((report.recovered, report.left_journals), (0, vec![path.clone()]), "{version}");
        assert_eq!((cells_at(&storage, 50), temporary(&storage)), (before, vec![path]), "{version}");
    }
}

/// A journal above the size limit does not block maintenance.
#[test]
fn a_journal_above_the_limit_is_kept() {
    let storage = array(22, false);
    storage.create_new(JOURNAL, &[b'x'; 5000]).unwrap();
    let mut limits = Limits::default();
    limits.commit_bytes = 4000;
    let array = ArrayOptions::new().limits(limits).open_on(storage.clone()).unwrap();
    let report = ConsolidateFragments::new().plan(&array).unwrap().run().unwrap();
    assert_eq!((report.steps.len(), report.recovered, report.left_journals), (1, 0, vec![JOURNAL.to_owned()]));
}

/// A vacuum file above the size limit is not written.
#[test]
fn a_vacuum_file_above_the_limit_is_not_written() {
    let storage = self::array(22, false);
    let before = (cells_at(&storage, 50), entries(&storage, "__commits"), entries(&storage, "__fragments"));
    let mut limits = Limits::default();
    limits.commit_bytes = 100;
    let array = ArrayOptions::new().limits(limits).open_on(storage.clone()).unwrap();
    let result = ConsolidateFragments::new().plan(&array).and_then(FragmentPlan::run);
    assert!(matches!(result, Err(MaintainError::Storage(StorageError::OverLimit { .. }))), "{result:?}");
    let now = (cells_at(&storage, 50), entries(&storage, "__commits"), entries(&storage, "__fragments"));
    assert_eq!((now, temporary(&storage)), (before, Vec::new()));
}

/// A crash between the commit and the vacuum file.
#[test]
fn a_vacuum_finishes_what_was_interrupted() {
    let storage = array(22, true);
    let before = cells_at(&storage, 50);
    let report = ConsolidateFragments::new().plan(&open(&storage)).unwrap().run().unwrap();
    let step = &report.steps[0];
    let (list, name) = (storage.read(&step.vacuum_file).unwrap(), &step.fragments[0]);
    storage.remove_file(&step.vacuum_file).unwrap();
    let head = format!(
        "tdb journal of joined fragments 1\nvacuum {}\noutput __fragments/{name} __commits/{name}.wrt\n\n",
        step.vacuum_file
    );
    storage.create_new(&journal_path(&head), &[head.as_bytes(), &list].concat()).unwrap();
    assert_eq!(cells_at(&storage, 50).len(), before.len() * 2, "cells count twice before the vacuum");
    let plan = Vacuum::fragments().plan(&open(&storage)).unwrap();
    let report = plan.run().unwrap();
    assert!(!report.steps.is_empty() && report.left.is_empty(), "{report:?}");
    assert_eq!(cells_at(&storage, 50), before);
    assert_eq!((open(&storage).fragments().unwrap().len(), temporary(&storage)), (1, Vec::new()));
}

/// A dropped attribute must not hide another reason for a conflict.
#[test]
fn an_attribute_dropped_meanwhile_hides_no_other_reason() {
    let storage = array(14, false);
    let fragments: Vec<String> = open(&storage).directory().fragments.iter().map(|own| own.name.to_string()).collect();
    let other = |storage: &Arc<dyn Storage>| {
        let evolution = SchemaEvolution::new().add_attribute(Attribute::new("b", Datatype::Int32)).drop_attribute("a");
        // The fragment is between the consolidated ones in time, and overlaps them.
        let (x, a): (Vec<i32>, Vec<i32>) = (0..20).map(|x| (x, 7)).unzip();
        let names = WriteIds::new().at(12).seeded(99);
        open(storage).write().ids(names).cells(WriteBatch::new().with("x", &x).with("a", &a)).unwrap();
        open(storage).evolve(&evolution, &WriteIds::new().at(13).seeded(9)).unwrap();
    };
    let before = entries(&storage, "__fragments").len();
    let made = meanwhile(&storage, Moment::Begins, "__fragments", other);
    let consolidate = ConsolidateFragments::new().fragments(fragments);
    let result = consolidate.plan(&open(&made)).and_then(FragmentPlan::run);
    assert!(matches!(result, Err(MaintainError::Conflict { .. })), "{result:?}");
    assert_eq!(entries(&storage, "__fragments").len(), before + 1);
}

/// A late writer, or one with an earlier timestamp, does not restore deleted keys.
#[test]
fn deleted_keys_of_consolidated_metadata_stay_deleted() {
    let value = |text: &str| tdb_array::MetadataValue::text(text).unwrap();
    // Some keys are left, or all are deleted.
    for left in [&["other"][..], &[]] {
        let storage = array(22, false);
        let change = |time| open(&storage).write_metadata().ids(WriteIds::new().at(time).seeded(time));
        change(21).put("k", value("a")).commit().unwrap();
        left.iter().fold(change(25), |change, key| change.put(*key, value("b"))).delete("k").commit().unwrap();
        Consolidate::metadata().plan(&open(&storage)).unwrap().run().unwrap();
        Vacuum::metadata().plan(&open(&storage)).unwrap().run().unwrap();
        change(15).put("k", value("late")).commit().unwrap();
        assert_eq!(open(&storage).metadata().unwrap().get("k"), None, "{left:?}");
    }
}

/// Locks and other files of jobs are not reported as leftovers, with a live or a dead owner.
#[test]
fn files_of_jobs_are_no_leftovers() {
    let storage = array(22, false);
    for name in [LOCK, JOURNAL, ".tdb-takeover-00.tmp"] {
        storage.create_new(name, b"process 7\non elsewhere\n").unwrap();
    }
    assert_eq!(open(&storage).leftovers().unwrap(), []);
}

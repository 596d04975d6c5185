//! Consolidations that fail at each operation: a later copy, move or migration has every cell
//! exactly as often as written.

use std::sync::Arc;

use crate::fragments_support::{Kind, Random, cells_at, create, open, sparse, storage_of, write_sparse};
use tdb_array::{ArrayOptions, CreateOptions, WriteIds};
use tdb_job::{MaintainError, Result};
use tdb_maintain::{ConsolidateFragments, FragmentPlan};
use tdb_migrate::Migrate;
use tdb_relocate::{CopyTo, MoveTo};
use tdb_storage::{LocalStorage, MemoryStorage, Storage, StorageError, forward_storage};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::names::MAINTENANCE_LOCK;
use tdb_types::{Datatype, Layout};
use tdb_verify::{FindingKind, Verify};

fn filled(version: u32) -> Arc<dyn Storage> {
    let storage = storage_of(&MemoryStorage::new());
    fill(&storage, version);
    storage
}

/// Writes fragments of an array with duplicates.
fn fill(storage: &Arc<dyn Storage>, version: u32) {
    let kind = Kind { version, order: Layout::RowMajor, duplicates: true, first: Datatype::Int32 };
    create(storage, sparse(kind));
    let mut random = Random(u64::from(version));
    (11..14).for_each(|time| write_sparse(storage, &mut random, kind, &WriteIds::new().seeded(3).at(time)));
}

fn consolidate(storage: &Arc<dyn Storage>, size: Option<u64>) -> Result<()> {
    let array = ArrayOptions::new().threads(1).open_on(storage.clone())?;
    let consolidate = ConsolidateFragments::new().ids(WriteIds::new().seeded(4));
    let consolidate = size.into_iter().fold(consolidate, ConsolidateFragments::max_fragment_size);
    consolidate.plan(&array).and_then(FragmentPlan::run).map(drop)
}

/// Deletes a dead process's lock, as the next process would.
fn unlock(storage: &Arc<dyn Storage>) {
    if storage.exists(MAINTENANCE_LOCK).unwrap() {
        storage.remove_file(MAINTENANCE_LOCK).unwrap();
    }
}

fn journals(storage: &Arc<dyn Storage>) -> Vec<String> {
    let names = storage.list("").unwrap().into_iter().map(|entry| entry.name);
    names.filter(|name| name.starts_with(".tdb-journal-")).collect()
}

/// Returns the cells of a copy, or of a migration with or without history.
fn copied(storage: &Arc<dyn Storage>, way: usize) -> Result<Vec<String>> {
    let new = elsewhere();
    if way == 0 {
        CopyTo::new().run(storage, &new, "copy")?;
        let copy: Arc<dyn Storage> = Arc::new(At("elsewhere/copy/", new.sub("copy")?));
        return Ok(cells_at(&copy, 50));
    }
    let migrate = if way == 1 { Migrate::new() } else { Migrate::new().flatten() };
    let array = ArrayOptions::new().threads(1).at(50).open_on(storage.clone())?;
    migrate.plan(&array)?.into_storage(&new, &CreateOptions::new())?;
    Ok(cells_at(&new, 50))
}

/// A storage with another URI, for old formats with absolute URIs.
#[derive(Debug)]
struct At(&'static str, Arc<dyn Storage>);

impl Storage for At {
    forward_storage!(|this| this.1 => list, open, open_sized, profile, fetch_one, fetch, kind, sub, describe);
    forward_storage!(|this| this.1 => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder, rename);

    fn uri(&self, path: &str) -> Option<String> {
        Some(format!("file:///{}{path}", self.0))
    }
}

fn elsewhere() -> Arc<dyn Storage> {
    Arc::new(At("elsewhere/", Arc::new(MemoryStorage::new())))
}

fn check(version: u32, size: Option<u64>) {
    let disk = || filled(version);
    let cells = cells_at(&disk(), 50);
    let sound = FaultyStorage::sound(disk());
    consolidate(&(Arc::new(sound.clone()) as _), size).unwrap();
    let mut twice = 0;
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            // Several consolidated fragments of old formats prevent a migration with history before
            // a vacuum.
            for way in (0..3).filter(|way| size.is_none() || *way != 1) {
                let storage = disk();
                let _ = consolidate(&(Arc::new(FaultyStorage::new(storage.clone(), fault, n)) as _), size);
                unlock(&storage);
                twice += u32::from(cells_at(&storage, 50) != cells);
                let found = Verify::new().threads(1).storage(storage.clone()).unwrap().findings;
                let is_found = found.iter().any(|finding| finding.kind == FindingKind::Interrupted);
                assert_eq!(is_found, !journals(&storage).is_empty());
                assert_eq!(copied(&storage, way).unwrap(), cells, "{version}, {fault:?} at {n}, {way}");
                assert_eq!(cells_at(&storage, 50), cells, "{version}, {fault:?} at {n}, {way}");
            }
        }
    }
    assert!(twice > 0, "{version}: no failure left cells twice");
}

#[test]
fn copies_after_a_crash() {
    for version in [22, 9] {
        check(version, None);
    }
    check(11, Some(1));
}

/// Creates the state between the commit of the new fragment and the vacuum file. Returns the
/// original cells.
fn interrupted(storage: &Arc<dyn Storage>) -> Vec<String> {
    fill(storage, 22);
    let cells = cells_at(storage, 50);
    let report = ConsolidateFragments::new().plan(&open(storage)).unwrap().run().unwrap();
    let step = &report.steps[0];
    let (name, list) = (&step.fragments[0], storage.read(&step.vacuum_file).unwrap());
    storage.remove_file(&step.vacuum_file).unwrap();
    let head = format!(
        "tdb journal of joined fragments 1\nvacuum {}\noutput __fragments/{name} __commits/{name}.wrt\n\n",
        step.vacuum_file
    );
    storage.create_new(".tdb-journal-x.tmp", &[head.as_bytes(), &list].concat()).unwrap();
    assert_eq!(cells_at(storage, 50).len(), 2 * cells.len());
    cells
}

/// The source and its journal are removed after a complete copy.
#[test]
fn moves_after_a_crash() {
    for by_copying in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let cells = interrupted(&(Arc::new(LocalStorage::new(&old)) as _));
        MoveTo::new().by_copying(by_copying).folder(&old, &new).unwrap();
        let new: Arc<dyn Storage> = Arc::new(LocalStorage::new(&new));
        assert_eq!((cells_at(&new, 50), journals(&new)), (cells, Vec::new()), "{by_copying}");
    }
}

/// Arrays inside of a group are included.
#[test]
fn nested_consolidations_are_completed_before_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    tdb_array::Group::create(&old).unwrap();
    let cells = interrupted(&(Arc::new(LocalStorage::new(old.join("array"))) as _));
    CopyTo::new().folder(&old, &new).unwrap();
    assert_eq!(cells_at(&(Arc::new(LocalStorage::new(new.join("array"))) as _), 50), cells);
}

#[test]
#[cfg(target_os = "linux")]
fn running_consolidations_block_copies() {
    let storage = storage_of(&MemoryStorage::new());
    let cells = interrupted(&storage);
    let read = |path: &str| std::fs::read_to_string(path).unwrap().trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap().display().to_string();
    let place = [read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"), namespace].join(" ");
    let lock = format!("process {}\non {place}\n", std::process::id());
    storage.create_new(MAINTENANCE_LOCK, lock.as_bytes()).unwrap();
    for way in 0..3 {
        let result = copied(&storage, way);
        assert!(matches!(result, Err(MaintainError::Busy { .. })), "{way}: {result:?}");
    }
    assert_eq!((journals(&storage).len(), storage.read(MAINTENANCE_LOCK).unwrap()), (1, lock.into_bytes()));
    CopyTo::new().take_over(true).run(&storage, &elsewhere(), "copy").unwrap();
    assert_eq!(cells_at(&storage, 50), cells);
}

/// A read-only storage.
#[derive(Debug)]
struct ReadOnly(Arc<dyn Storage>);

impl Storage for ReadOnly {
    forward_storage!(|this| this.0 => list, open, open_sized, profile, fetch_one, fetch, kind, describe, uri);
    forward_storage!(|this| this.0 => create_folder, create_file, sync_folder, remove_file, remove_folder);

    fn sub(&self, path: &str) -> tdb_storage::Result<Arc<dyn Storage>> {
        Ok(Arc::new(Self(self.0.sub(path)?)))
    }

    fn create_new(&self, path: &str, _bytes: &[u8]) -> tdb_storage::Result<()> {
        Err(StorageError::from_io(path.to_owned(), std::io::ErrorKind::PermissionDenied.into()))
    }
}

fn is_unsettled<T: std::fmt::Debug>(result: &Result<T>, why: &str) {
    assert!(
        matches!(result, Err(MaintainError::Unsettled { path, why: told }) if path.contains(".tdb-journal-") && told.contains(why)),
        "{result:?}"
    );
}

/// Only interrupted consolidations that cannot be completed are refused.
#[test]
fn consolidations_that_cannot_be_completed_are_refused() {
    let storage = filled(22);
    let fixed: Arc<dyn Storage> = Arc::new(ReadOnly(storage.clone()));
    let cells = cells_at(&storage, 50);
    (0..3).for_each(|way| assert_eq!(copied(&fixed, way).unwrap(), cells));
    let storage = storage_of(&MemoryStorage::new());
    interrupted(&storage);
    let fixed: Arc<dyn Storage> = Arc::new(ReadOnly(storage.clone()));
    (0..3).for_each(|way| is_unsettled(&copied(&fixed, way), ""));
    // Foreign leftovers are not lost, either.
    let storage = filled(22);
    storage.create_new(".tdb-journal-x.tmp", b"tdb journal of something else\n\n").unwrap();
    (0..3).for_each(|way| is_unsettled(&copied(&storage, way), "not a journal"));
    assert_eq!(journals(&storage).len(), 1);
}

/// Leftovers of a run killed before its journal was written: the next run reports them, and the
/// doctor repairs them.
#[test]
fn uncommitted_fragments_are_reported() {
    let mut told = 0;
    let sound = FaultyStorage::sound(filled(22));
    consolidate(&(Arc::new(sound.clone()) as _), None).unwrap();
    for n in 0..sound.changes() {
        let storage = filled(22);
        let cells = cells_at(&storage, 50);
        let _ = consolidate(&(Arc::new(FaultyStorage::new(storage.clone(), Fault::Stops, n)) as _), None);
        unlock(&storage);
        let fragments = storage.list("__fragments").unwrap().into_iter();
        let fragments: Vec<String> = fragments.map(|entry| format!("__fragments/{}", entry.name)).collect();
        let commits = storage.list("__commits").unwrap();
        let is_committed = |path: &String| {
            let stem = path.trim_start_matches("__fragments/");
            commits.iter().any(|entry| entry.name == format!("{stem}.wrt"))
        };
        // With a journal, the consolidation is rolled back first.
        let left: Vec<String> = match journals(&storage).is_empty() {
            true => fragments.iter().filter(|path| !is_committed(path)).cloned().collect(),
            false => Vec::new(),
        };
        let report =
            ConsolidateFragments::new().ids(WriteIds::new().seeded(5)).plan(&open(&storage)).unwrap().run().unwrap();
        assert_eq!(report.uncommitted, left, "at {n}");
        assert_eq!(left.iter().filter(|path| report.to_string().contains(path.as_str())).count(), left.len());
        assert_eq!(cells_at(&storage, 50), cells, "at {n}");
        told += left.len();
    }
    assert!(told > 2, "{told}");
}

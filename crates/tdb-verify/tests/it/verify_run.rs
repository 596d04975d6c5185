//! Verification of a larger array: independent of the number of threads, in constant memory, with
//! progress and cancellation.

use std::sync::Arc;

use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_array::{Array, ArrayError, ArrayOptions, CreateOptions, Monitor, WriteBatch};
use tdb_job::MaintainError;
use tdb_storage::{Entry, MemoryStorage, Storage, StorageError, forward_storage};
use tdb_testkit::allocations::peak_while;
use tdb_types::Datatype;
use tdb_verify::{FindingKind, Verify};

/// Number of cells per tile.
const CAPACITY: u32 = 20_000;

/// Creates an array of one fragment.
pub(crate) fn written(schema: SchemaBuilder, cells: WriteBatch<'_>) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    let shared: Arc<dyn Storage> = storage.clone();
    CreateOptions::new().create_on(&shared, schema.build().unwrap()).unwrap();
    ArrayOptions::new().threads(1).open_on(shared).unwrap().write().cells(cells).unwrap();
    storage
}

/// Creates an array of one fragment with the given number of tiles.
fn array(tiles: u32) -> Arc<MemoryStorage> {
    let x = Dimension::new("x", 0u32..=1 << 30);
    let schema = SchemaBuilder::sparse().capacity(u64::from(CAPACITY)).dimension(x);
    let x: Vec<u32> = (0..tiles * CAPACITY).collect();
    let a: Vec<u32> = x.iter().map(|x| x.wrapping_mul(2_654_435_761)).collect();
    written(schema.attribute(Attribute::new("a", Datatype::UInt32)), WriteBatch::new().with("x", &x).with("a", &a))
}

/// Returns the path of a data file.
fn data_file(storage: &MemoryStorage, name: &str) -> String {
    let fragment = storage.list("__fragments").unwrap().remove(0).name;
    format!("__fragments/{fragment}/{name}")
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let storage = array(30);
    let path = data_file(&storage, "a0.tdb");
    let mut bytes = storage.read(&path).unwrap();
    for at in [1000, 400_000, 2_000_000] {
        bytes[at] ^= 16;
    }
    storage.insert(&path, bytes).unwrap();
    let [one, four] = [1, 4].map(|threads| Verify::new().threads(threads).storage(storage.clone()).unwrap());
    assert_eq!(one.findings, four.findings);
    let wrong: Vec<_> = one.findings.iter().filter(|finding| finding.kind == FindingKind::Sum).collect();
    let tiles: Vec<_> = wrong.iter().map(|finding| finding.tile).collect();
    assert_eq!(tiles, [Some(0), Some(4), Some(24), None], "{wrong:#?}");
    assert_eq!((one.arrays, one.fragments, one.tiles), (1, 1, 60));
}

#[test]
fn memory_does_not_grow_with_the_array() {
    let peak = |tiles| {
        let storage = array(tiles);
        peak_while(|| assert!(Verify::new().threads(1).storage(storage.clone()).unwrap().is_sound()))
    };
    let (few, many) = (peak(5), peak(100));
    assert!(many < few + (256 << 10), "{few} bytes for 5 tiles, {many} for 100");
}

/// Creates an array of one fragment with two-cell tiles, two dimensions and a string field.
fn small_tiles(tiles: u32) -> Arc<MemoryStorage> {
    let side = |name: &str| Dimension::new(name, 0u32..=1 << 30);
    let schema = SchemaBuilder::sparse().capacity(2).dimension(side("y")).dimension(side("x"));
    let cells: Vec<u32> = (0..tiles * 2).collect();
    let batch = WriteBatch::new().with("y", &cells).with("x", &cells).with("a", &cells);
    written(schema.attribute(Attribute::new("a", Datatype::UInt32)), batch)
}

// The verification holds the fragment metadata of each tile. It has 16 bytes of MBR and 40 bytes of
// statistics per dimension, the statistics of a field, and the tile offsets.
#[test]
fn little_is_held_of_each_tile() {
    let peak = |tiles| {
        let storage = small_tiles(tiles);
        peak_while(|| assert!(Verify::new().threads(1).storage(storage.clone()).unwrap().is_sound()))
    };
    let (few, many) = (peak(5_000), peak(15_000));
    let each = many.saturating_sub(few) / 10_000;
    println!("{few} bytes for 5000 tiles, {many} for 15000: {each} for each");
    assert!(each < 500, "{few} bytes for 5000 tiles, {many} for 15000: {each} for each");
}

/// A storage that fails to list one folder.
#[derive(Debug)]
struct Closed {
    inner: Arc<MemoryStorage>,
    folder: &'static str,
}

impl Storage for Closed {
    forward_storage!(|this| this.inner => open, open_sized, profile, fetch_one, fetch, kind, sub, describe);
    forward_storage!(|this| this.inner => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder);

    fn list(&self, path: &str) -> Result<Vec<Entry>, StorageError> {
        match path == self.folder {
            true => Err(StorageError::PermissionDenied { path: path.to_owned() }),
            false => self.inner.list(path),
        }
    }
}

#[test]
fn unlistable_folders_are_reported() {
    for folder in ["__labels", "__fragments"] {
        let storage = Arc::new(Closed { inner: array(1), folder });
        let report = Verify::new().threads(1).storage(storage).unwrap();
        let found: Vec<_> = report.findings.iter().filter(|finding| finding.file.ends_with(folder)).collect();
        assert!(found.iter().any(|finding| finding.kind == FindingKind::Unreadable), "{folder}: {report:#?}");
    }
}

#[test]
fn progress_is_reported_and_cancellation_works() {
    let (storage, monitor) = (array(5), Monitor::new());
    let verify = Verify::new().threads(1).monitor(&monitor);
    verify.storage(storage.clone()).unwrap();
    let progress = monitor.progress();
    assert!(progress.bytes > 0 && progress.bytes == progress.planned_bytes, "{progress:?}");
    monitor.cancel();
    let cancelled = verify.storage(storage);
    assert!(matches!(cancelled, Err(MaintainError::Array(ArrayError::Cancelled))), "{cancelled:?}");
}

#[test]
fn links_that_lead_back_are_followed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arrays");
    std::fs::create_dir_all(path.join("inner")).unwrap();
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("x", 0u32..=9))
        .attribute(Attribute::new("a", Datatype::UInt32));
    Array::create(path.join("inner/array"), schema.build().unwrap()).unwrap();
    #[cfg(unix)]
    for link in ["a", "b", "inner/c"] {
        std::os::unix::fs::symlink(&path, path.join(link)).unwrap();
    }
    let report = Verify::new().folder(&path).unwrap();
    assert_eq!((report.arrays, report.is_sound()), (1, true));
    let storage = tdb_storage::LocalStorage::new(&path);
    let manifest = tdb_verify::Manifest::of(&storage, 1, &Monitor::new()).unwrap();
    let inner = tdb_storage::LocalStorage::new(path.join("inner/array"));
    assert_eq!(manifest.len(), tdb_verify::Manifest::of(&inner, 1, &Monitor::new()).unwrap().len());
}

#[test]
fn a_lost_replacement_is_found() {
    let disk = MemoryStorage::new();
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let schema = SchemaBuilder::sparse()
        .dimension(Dimension::new("x", 0u32..=9))
        .attribute(Attribute::new("a", Datatype::UInt32));
    CreateOptions::new().create_on(&storage, schema.build().unwrap()).unwrap();
    let open = || ArrayOptions::new().threads(1).open_on(storage.clone()).unwrap();
    for x in [1u32, 2] {
        open().write().cells(WriteBatch::new().with("x", &[x]).with("a", &[x])).unwrap();
    }
    let report = tdb_maintain::ConsolidateFragments::new().plan(&open()).unwrap().run().unwrap();
    assert!(Verify::new().threads(1).storage(storage.clone()).unwrap().is_sound());
    let name = report.steps[0].fragments[0].as_str();
    storage.remove_file(&format!("__commits/{name}.wrt")).unwrap();
    storage.remove_folder(&format!("__fragments/{name}")).unwrap();
    // Readers no longer find any cell.
    let report = Verify::new().threads(1).storage(storage.clone()).unwrap();
    let found: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(found, [FindingKind::Replacement]);
}

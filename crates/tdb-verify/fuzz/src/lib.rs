//! Fuzz targets of maintenance: functions that accept any bytes and assert their invariants.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::{Array, ArrayError, ArrayOptions, TimeRange};
use tdb_storage::{MemoryStorage, Storage};
use tdb_testkit::hostile::edit;
use tdb_testkit::{files_of, fixtures};
use tdb_verify::{MaintainError, Rebuild, RebuildPlan};

const METADATA: &str = "/__fragment_metadata.tdb";
/// Larger arrays would slow down each run.
const MOST_BYTES: usize = 64 << 10;

/// A fragment without metadata.
struct Lost {
    /// The remaining files of the array.
    files: BTreeMap<String, Arc<[u8]>>,
    /// The data files of the fragment.
    data: Vec<String>,
    key: Option<EncryptionKey>,
    name: String,
    rebuild: Rebuild,
}

static LOST: LazyLock<Vec<Lost>> = LazyLock::new(|| {
    let small = |fixture: &fixtures::Fixture| {
        let bytes: usize = fixture.files().below("array").map(|(_, bytes)| bytes.len()).sum();
        bytes <= MOST_BYTES
    };
    fixtures::all().iter().filter(|fixture| small(fixture)).flat_map(lost_of).collect()
});

/// Returns the fragments of an array, each without metadata.
fn lost_of(fixture: &fixtures::Fixture) -> Vec<Lost> {
    let key = fixture.expected().key().map(EncryptionKey::new);
    let files: BTreeMap<String, Arc<[u8]>> =
        fixture.files().below("array").map(|(path, bytes)| (path.to_owned(), Arc::clone(bytes))).collect();
    let array = open(on(&files), key.as_ref()).expect("a sound array");
    let fragments = array.fragments().expect("sound fragments");
    let lost = fragments.iter().map(|fragment| {
        let metadata = format!("{}{METADATA}", fragment.folder());
        let inside = format!("{}/", fragment.folder());
        let mut files = files.clone();
        files.remove(&metadata);
        let domain = fragment.non_empty_domain().filter(|_| fragment.footer().is_dense());
        let rebuild = domain.map_or(Rebuild::new(), |domain| Rebuild::new().domain(domain.clone()));
        let data = files.keys().filter(|path| path.starts_with(&inside)).cloned().collect();
        Lost { files, data, key: key.clone(), name: fragment.name().as_str().to_owned(), rebuild }
    });
    lost.filter(|lost| !lost.data.is_empty()).collect()
}

fn on(files: &BTreeMap<String, Arc<[u8]>>) -> Arc<dyn Storage> {
    let storage = MemoryStorage::new();
    for (path, bytes) in files {
        storage.insert(path, Arc::clone(bytes)).expect("paths of files");
    }
    Arc::new(storage)
}

fn open(storage: Arc<dyn Storage>, key: Option<&EncryptionKey>) -> Result<Array, ArrayError> {
    ArrayOptions::new().between(TimeRange::ALL).threads(1).key(key.cloned()).open_on(storage)
}

/// Damages a data file of a fragment without metadata, and rebuilds the fragment.
///
/// A refused rebuild changes no file. After a rebuild, readers find the reported number of cells,
/// or an error. The first bytes select the fragment (two bytes), the file, and whether to keep
/// tiles before the damage. Edits of five bytes follow: half of the file, position (two bytes),
/// action and value.
pub fn rebuild(data: &[u8]) {
    let Some((&[low, high, file, salvage], edits)) = data.split_first_chunk() else { return };
    let lost = &LOST[usize::from(u16::from_le_bytes([low, high])) % LOST.len()];
    let mut files = lost.files.clone();
    let path = &lost.data[usize::from(file) % lost.data.len()];
    let mut bytes = files[path].to_vec();
    edit(&mut bytes, edits);
    files.insert(path.clone(), bytes.into());
    let storage = on(&files);
    let array = open(Arc::clone(&storage), lost.key.as_ref()).expect("opening reads no data files");
    match lost.rebuild.clone().salvage(salvage & 1 == 1).plan(&array, &lost.name).and_then(RebuildPlan::run) {
        Ok(rebuilt) => {
            assert!(edits.len() >= 5 || rebuilt.lost.is_none(), "{}: no file was damaged", lost.name);
            check(&storage, lost, rebuilt.cells);
        }
        Err(error) => {
            let is_about_it = matches!(error, MaintainError::Rebuild { .. });
            assert!(edits.len() >= 5 || is_about_it, "{}: {error}", lost.name);
            let found = files_of(&*storage);
            let found = found.iter().map(|(path, bytes)| (path, &bytes[..]));
            let is_same = found.eq(files.iter().map(|(path, bytes)| (path, &bytes[..])));
            assert!(is_same, "{}: a rejected rebuild changes no file", lost.name);
        }
    }
}

/// Checks the number of cells in the rebuilt fragment. Reading must end.
fn check(storage: &Arc<dyn Storage>, lost: &Lost, cells: u64) {
    let array = open(Arc::clone(storage), lost.key.as_ref()).expect("the rebuilt fragment opens");
    let fragments = array.fragments().expect("the rebuilt metadata is readable");
    let fragment =
        fragments.iter().find(|fragment| fragment.name().as_str() == lost.name).expect("the fragment is visible");
    assert!(fragment.tile_count() == 0 || cells > 0, "{}: tiles without cells", lost.name);
    let Ok(batches) = array.read().batches() else { return };
    for batch in batches {
        if batch.is_err() {
            return;
        }
    }
}

//! Fuzz targets for arrays. Each takes arbitrary bytes and asserts invariants.

mod attack;

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use tdb_array::tdb_storage::{Entry, MemoryStorage, Storage};
use tdb_array::tdb_types::ArrayType;
use tdb_array::{Array, ArrayDirectory, ArrayError, ArrayOptions, Listing, QueryPart, TimeRange};
use tdb_testkit::fixtures;
use tdb_testkit::hostile::edit;

/// Resolves an array directory from names and contents of commit files. The first byte selects the
/// array type and the time range. Lines follow, each with a letter for the folder, a name, and
/// optionally a tab and the content.
pub fn array_dir(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let mut listing = Listing::default();
    for line in text.lines() {
        add_line(&mut listing, line);
    }
    let array_type = if choice & 1 == 0 { ArrayType::Dense } else { ArrayType::Sparse };
    let start = u64::from(choice >> 1 & 3) * 500;
    let time = TimeRange { start, end: start + u64::from(choice >> 3) * 100 };
    for path in listing.wanted_files() {
        assert!(path.matches('/').count() <= 1, "{path:?} is not in a listed folder");
    }
    let schema = listing.schema_at(time);
    assert_eq!(schema.is_some(), !listing.schemas().is_empty());
    let Ok(directory) = ArrayDirectory::resolve(&listing, array_type, time) else { return };
    check(&directory, array_type, time);
    assert_eq!(ArrayDirectory::resolve(&listing, array_type, time).ok(), Some(directory.clone()));
    // A reader of all time sees at least the same fragments, except for superseded fragments.
    let all = TimeRange { start: 0, end: u64::MAX };
    if listing.commit_files.iter().all(|(path, _)| !path.ends_with(".vac"))
        && let Ok(everything) = ArrayDirectory::resolve(&listing, array_type, all)
    {
        assert!(directory.fragments.iter().all(|fragment| everything.fragments.contains(fragment)));
    }
}

fn add_line(listing: &mut Listing, line: &str) {
    let Some((folder, name)) = line.split_at_checked(1) else { return };
    let (name, contents) = name.split_once('\t').unwrap_or((name, ""));
    // Names in a listing never contain slashes.
    if folder != "f" && name.contains('/') {
        return;
    }
    let file = || Entry::file(name, contents.len() as u64);
    let contents = contents.replace("\\n", "\n").into_bytes();
    match folder {
        "r" => listing.root.push(file()),
        "d" => listing.root.push(Entry::folder(name)),
        "s" => listing.schemas.push(file()),
        "c" => listing.commits.push(file()),
        "f" => listing.commit_files.push((name.to_owned(), contents)),
        "l" => {
            listing.legacy_folders.insert(name.to_owned(), vec![Entry::file("__fragment_metadata.tdb", 0)]);
        }
        _ => {}
    }
}

fn check(directory: &ArrayDirectory, array_type: ArrayType, time: TimeRange) {
    let order = |pair: &[tdb_array::FragmentEntry]| pair[0].name.start() <= pair[1].name.start();
    assert!(directory.fragments.windows(2).all(order), "fragments are not sorted from the oldest");
    let folders: BTreeSet<&str> = directory.fragments.iter().map(|fragment| fragment.folder.as_str()).collect();
    assert_eq!(folders.len(), directory.fragments.len(), "a fragment is listed twice");
    for fragment in &directory.fragments {
        let (start, end) = (fragment.name.start(), fragment.name.end());
        assert!(time.start <= end && start <= time.end, "{} is outside of the time range", fragment.folder);
        assert!(array_type == ArrayType::Sparse || (time.start <= start && end <= time.end));
        let folder = fragment.folder.strip_prefix("__fragments/").unwrap_or(&fragment.folder);
        assert_eq!(folder, fragment.name.as_str(), "the folder is not that of the fragment");
    }
}

/// Files of an array, and its key.
type Files = (Vec<(String, Arc<[u8]>)>, Option<[u8; 32]>);

static FIXTURES: LazyLock<Vec<Files>> = LazyLock::new(|| {
    let files = |fixture: fixtures::Fixture| (files_below("array", &fixture), fixture.expected().key());
    fixtures::all().into_iter().map(files).collect()
});

fn files_below(folder: &str, fixture: &fixtures::Fixture) -> Vec<(String, Arc<[u8]>)> {
    fixture.files().below(folder).map(|(path, bytes)| (path.to_owned(), Arc::clone(bytes))).collect()
}

/// Opens an array with one damaged file. The first bytes select the fixture, the file and the way
/// to read. Edits of five bytes follow: the half of the file, the position, the action and the
/// value.
pub fn array_open(data: &[u8]) {
    damaged(&FIXTURES, data, attack::read_everything);
}

type Attack = fn(Arc<dyn Storage>, Option<[u8; 32]>, usize) -> Result<u64, ArrayError>;

fn damaged(fixtures: &[Files], data: &[u8], attack: Attack) {
    let Some((&[fixture, file, variant], edits)) = data.split_first_chunk() else { return };
    let (files, key) = &fixtures[usize::from(fixture) % fixtures.len()];
    let storage = MemoryStorage::new();
    for (path, bytes) in files {
        storage.insert(path, Arc::clone(bytes)).expect("paths of files");
    }
    let (path, bytes) = &files[usize::from(file) % files.len()];
    let mut bytes = bytes.to_vec();
    edit(&mut bytes, edits);
    storage.insert(path, bytes).expect("a path of a file");
    let _ = attack(Arc::new(storage), *key, usize::from(variant % 12));
}

static GROUPS: LazyLock<Vec<Files>> = LazyLock::new(|| {
    let files = |fixture: fixtures::Fixture| (files_below("group", &fixture), fixture.expected_group().key());
    fixtures::groups().into_iter().map(files).collect()
});

/// Opens a group tree with one damaged file. The input is as for [`array_open`].
pub fn group_open(data: &[u8]) {
    damaged(&GROUPS, data, attack::walk_everything);
}

static SPLIT: LazyLock<Vec<Array>> = LazyLock::new(|| {
    let names = ["v22-by-2.30.0-dense-2d-row-row", "v22-by-2.30.0-sparse-2d"];
    let wanted = fixtures::all().into_iter().filter(|fixture| names.contains(&fixture.name()));
    let open = |fixture: fixtures::Fixture| {
        let storage = MemoryStorage::new();
        for (path, bytes) in files_below("array", &fixture) {
            storage.insert(&path, bytes).expect("paths of files");
        }
        ArrayOptions::new().threads(1).open_on(Arc::new(storage)).expect("a sound array")
    };
    wanted.map(open).collect()
});

/// Parses a query part from arbitrary bytes. A valid part must survive a round trip. It is then
/// planned on arrays.
pub fn query_part(data: &[u8]) {
    let Ok(part) = QueryPart::from_bytes(data) else { return };
    assert_eq!(QueryPart::from_bytes(&part.to_bytes()).as_ref(), Ok(&part));
    for array in SPLIT.iter() {
        let _ = part.query(array).and_then(|query| query.plan());
    }
}

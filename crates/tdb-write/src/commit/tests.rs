use tdb_storage::{EntryKind, MemoryStorage, StorageError};
use tdb_testkit::{Fault, FaultyStorage};
use tdb_types::ArrayType;

use super::*;
use tdb_snapshot::{ArrayDirectory, ArrayError, Listing, TimeRange};

const DATA: [(&str, &[u8]); 2] = [("a0.tdb", b"01234567"), ("a1.tdb", b"89")];

/// Writes a fragment of two data files.
fn write(storage: &Arc<dyn Storage>, version: FormatVersion) -> Result<TimestampedName> {
    let fragment = NewFragment::begin(storage, version, (&WriteIds::new().at(5).seeded(1), &Environment::system()))?;
    let mut files = Vec::new();
    for (name, bytes) in DATA {
        let mut file = fragment.create(name)?;
        for piece in bytes.chunks(4) {
            file.append(piece)?;
        }
        files.push(file);
    }
    let metadata = b"metadata".to_vec();
    // On remote storage, files finish in any order. Here the metadata file is first.
    let finish = |files: Vec<Box<dyn WriteFile>>| files.into_iter().rev().try_for_each(|file| Ok(file.finish()?));
    if storage.profile().is_remote() {
        return fragment.seal_at_once(metadata, files, finish)?.commit();
    }
    finish(files)?;
    fragment.seal(metadata)?.commit()
}

/// A storage with high latency.
#[derive(Debug)]
struct Remote(Arc<dyn Storage>);

impl Storage for Remote {
    tdb_storage::forward_storage!(|this| this.0 => list, open, open_sized, kind, sub, describe, uri);
    tdb_storage::forward_storage!(|this| this.0 => create_folder, create_new, create_file, sync_folder, remove_file, remove_folder);

    fn profile(&self) -> tdb_storage::ReadProfile {
        tdb_storage::ReadProfile::new(0, u64::MAX, 64)
    }
}

/// Returns the committed fragments after a check that each is complete.
fn committed(disk: &MemoryStorage) -> Vec<String> {
    let list = |folder: &str| disk.list(folder).unwrap_or_default();
    let mut listing = Listing::of_root(list(""));
    listing.commits = list(COMMITS_FOLDER);
    for name in listing.legacy_candidates() {
        listing.legacy_folders.insert(name.clone(), list(&name));
    }
    let directory = ArrayDirectory::resolve(&listing, ArrayType::Sparse, TimeRange::ALL).unwrap();
    for entry in &directory.fragments {
        let read = |name: &str| disk.read(&format!("{}/{name}", entry.folder)).unwrap();
        assert!(DATA.iter().all(|(name, bytes)| read(name) == *bytes));
        assert_eq!(read(FRAGMENT_METADATA), b"metadata");
    }
    directory.fragments.into_iter().map(|entry| entry.name.to_string()).collect()
}

/// Returns all files and folders except folders needed by every fragment of this version.
fn rest(disk: &MemoryStorage) -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["", "__fragments", "__commits"] {
        let entries = disk.list(folder).unwrap_or_default();
        found.extend(entries.into_iter().map(|entry| entry.name));
    }
    found.retain(|name| name != "__fragments" && name != "__commits");
    found
}

#[test]
fn taken_names_leave_the_existing_fragment() {
    for version in FormatVersion::all() {
        let disk = MemoryStorage::new();
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        let name = write(&storage, version).unwrap();
        let refused = write(&storage, version).unwrap_err();
        assert!(matches!(refused, ArrayError::Storage(StorageError::AlreadyExists { .. })), "{refused}");
        assert_eq!(committed(&disk), [name.as_str()], "{version}");
    }
}

#[test]
fn fragments_are_committed_in_every_version() {
    for version in FormatVersion::all() {
        let disk = MemoryStorage::new();
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        let name = write(&storage, version).unwrap();
        assert_eq!(committed(&disk), [name.as_str()], "{version}");
        let place = FragmentPlace::new(version, name);
        assert_eq!(disk.kind(&place.folder).unwrap(), Some(EntryKind::Folder));
        assert!(place.commit.is_none_or(|commit| disk.read(&commit).unwrap().is_empty()));
    }
}

#[test]
fn what_breaks_at_any_moment_leaves_all_or_nothing() {
    for version in [2, 4, 5, 11, 12, 22].map(|version| FormatVersion::new(version).unwrap()) {
        breaks_at_any_moment(version, |storage| storage);
        breaks_at_any_moment(version, |storage| Arc::new(Remote(storage)));
    }
}

/// Writes a fragment to a faulty storage. Each change fails once, in each of the ways of [`Fault`].
fn breaks_at_any_moment(version: FormatVersion, of: impl Fn(Arc<dyn Storage>) -> Arc<dyn Storage>) {
    let sound = FaultyStorage::sound(Arc::new(MemoryStorage::new()));
    write(&of(Arc::new(sound.clone())), version).unwrap();
    for fault in [Fault::Fails, Fault::Stops, Fault::LosesPower] {
        for n in 0..sound.changes() {
            let disk = MemoryStorage::new();
            let faulty = of(Arc::new(FaultyStorage::new(Arc::new(disk.clone()), fault, n)));
            write(&faulty, version).unwrap_err();
            assert_eq!(committed(&disk), [""; 0], "{version} {fault:?} {n}");
            if fault == Fault::Fails {
                assert_eq!(rest(&disk), [""; 0], "{version} {n}");
                // The same name can be used again.
                write(&faulty, version).unwrap();
                assert_eq!(committed(&disk).len(), 1);
            }
        }
    }
    // After the commit, a loss of power does not affect the fragment.
    let disk = MemoryStorage::new();
    let faulty = FaultyStorage::new(Arc::new(disk.clone()), Fault::LosesPower, sound.changes());
    write(&of(Arc::new(faulty.clone())), version).unwrap();
    faulty.create_folder("more").unwrap_err();
    assert_eq!(committed(&disk).len(), 1, "{version}");
}

#[test]
fn dropped_fragments_are_removed() {
    let disk = MemoryStorage::new();
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let names = WriteIds::new();
    let fragment = NewFragment::begin(&storage, FormatVersion::DEFAULT, (&names, &Environment::system())).unwrap();
    let mut file = fragment.create("a0.tdb").unwrap();
    file.append(b"0").unwrap();
    assert!(fragment.create("a0.tdb").is_err());
    file.finish().unwrap();
    assert!(
        disk.exists(&fragment.place.folder).unwrap() && fragment.place.folder.ends_with(fragment.place.name.as_str())
    );
    drop(fragment);
    let sealed = NewFragment::begin(&storage, FormatVersion::DEFAULT, (&names, &Environment::system()))
        .unwrap()
        .seal(Vec::new())
        .unwrap();
    drop(sealed);
    assert_eq!(rest(&disk), [""; 0]);
}

//! Behavior specific to file systems: links, permissions, pipes, names that are not UTF-8.
#![cfg(unix)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use tdb_storage::{EntryKind, LocalStorage, Storage, StorageError};

fn names(storage: &LocalStorage) -> Vec<(String, EntryKind, u64)> {
    storage.list("").unwrap().into_iter().map(|entry| (entry.name, entry.kind, entry.size)).collect()
}

#[test]
fn links_are_listed_as_their_targets() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("real")).unwrap();
    fs::write(root.join("real/f"), "123").unwrap();
    fs::create_dir(root.join("array")).unwrap();
    symlink("../real", root.join("array/folder")).unwrap();
    symlink("../real/f", root.join("array/file")).unwrap();
    symlink("../nowhere", root.join("array/dangling")).unwrap();
    let storage = LocalStorage::new(root.join("array"));
    let listed = names(&storage);
    assert_eq!(listed, [("file".to_owned(), EntryKind::File, 3), ("folder".to_owned(), EntryKind::Folder, 0)]);
    assert_eq!(storage.read("folder/f").unwrap(), b"123");
    assert!(storage.read("dangling").unwrap_err().is_not_found());
    // Deleting a folder deletes links inside, but not the targets.
    LocalStorage::new(root).remove_folder("array").unwrap();
    assert!(root.join("real/f").exists());
}

#[test]
fn special_files_are_skipped_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"not \xff text")), "").unwrap();
    fs::write(folder.path().join("f"), "").unwrap();
    let storage = LocalStorage::new(folder.path());
    assert_eq!(names(&storage), [("f".to_owned(), EntryKind::File, 0)]);
    assert!(matches!(storage.open("socket"), Err(StorageError::NotAFile { .. })));
    drop(socket);
}

#[test]
fn denied_access_is_a_distinct_error() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    storage.create_folder("locked").unwrap();
    storage.create_new("locked/f", b"1").unwrap();
    let lock = |mode| fs::set_permissions(folder.path().join("locked"), fs::Permissions::from_mode(mode)).unwrap();
    lock(0o000);
    // The superuser can read everything and sees no errors.
    let superuser = fs::read_dir(folder.path().join("locked")).is_ok();
    if !superuser {
        assert!(matches!(storage.list("locked"), Err(StorageError::PermissionDenied { .. })));
        assert!(matches!(storage.open("locked/f"), Err(StorageError::PermissionDenied { .. })));
        assert!(matches!(storage.kind("locked/f"), Err(StorageError::PermissionDenied { .. })));
        assert!(matches!(storage.create_new("locked/g", b""), Err(StorageError::PermissionDenied { .. })));
    }
    lock(0o700);
    assert_eq!(storage.read("locked/f").unwrap(), b"1");
}

#[test]
fn a_file_truncated_after_opening_ends_unexpectedly() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    storage.create_new("f", b"0123456789").unwrap();
    let file = storage.open("f").unwrap();
    fs::OpenOptions::new().write(true).open(folder.path().join("f")).unwrap().set_len(5).unwrap();
    let error = file.read_into(2, &mut [0; 6]).unwrap_err();
    assert!(matches!(error, StorageError::UnexpectedEnd { offset: 2, need: 6, size: 10, .. }));
}

#[test]
fn reading_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    storage.create_folder("d").unwrap();
    storage.create_new("d/f", b"1").unwrap();
    for path in ["d/f", "d"] {
        fs::set_permissions(folder.path().join(path), fs::Permissions::from_mode(0o500)).unwrap();
    }
    let stamp = || ["", "d", "d/f"].map(|path| fs::metadata(folder.path().join(path)).unwrap().modified().unwrap());
    let before = stamp();
    storage.list("d").unwrap();
    storage.read("d/f").unwrap();
    assert!(storage.exists("d/f").unwrap());
    storage.sub("new").unwrap().list("").unwrap_err();
    assert_eq!(stamp(), before);
    assert_eq!(names(&storage).len(), 1);
    fs::set_permissions(folder.path().join("d"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn created_files_leave_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    storage.create_folder("d").unwrap();
    storage.create_new("d/f", b"bytes").unwrap();
    storage.create_new("d/empty", b"").unwrap();
    storage.create_new("d/f", b"other").unwrap_err();
    storage.create_new("none/f", b"other").unwrap_err();
    assert_eq!(storage.read("d/f").unwrap(), b"bytes");
    let names = |folder| storage.list(folder).unwrap().into_iter().map(|entry| entry.name).collect::<Vec<_>>();
    assert_eq!((names(""), names("d")), (vec!["d".to_owned()], vec!["empty".to_owned(), "f".to_owned()]));
}

#[test]
fn readers_see_only_complete_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    let bytes = vec![7; 1 << 20];
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..20).for_each(|i| storage.create_new(&format!("f{i}"), &bytes).unwrap()));
        while !writer.is_finished() {
            for entry in storage.list("").unwrap().iter().filter(|entry| entry.name.starts_with('f')) {
                assert_eq!(storage.read(&entry.name).unwrap().len(), bytes.len());
            }
        }
    });
}

/// Each creator first checks that the file does not exist, and all checks may succeed.
#[test]
fn one_of_several_creators_succeeds() {
    const MAKERS: u8 = 4;
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    let barrier = std::sync::Barrier::new(usize::from(MAKERS));
    for round in 0..100 {
        let path = format!("f{round}");
        let make = |maker: u8| {
            barrier.wait();
            match storage.create_new(&path, &[maker; 10]) {
                Ok(()) => Some(maker),
                Err(StorageError::AlreadyExists { .. }) => None,
                Err(error) => panic!("{error}"),
            }
        };
        let made: Vec<u8> = std::thread::scope(|scope| {
            let make = &make;
            let makers: Vec<_> = (0..MAKERS).map(|maker| scope.spawn(move || make(maker))).collect();
            makers.into_iter().filter_map(|maker| maker.join().unwrap()).collect()
        });
        assert_eq!(made.len(), 1, "round {round}");
        assert_eq!(storage.read(&path).unwrap(), [made[0]; 10]);
    }
}

/// Otherwise, write access to an array's folder would imply control over deletions elsewhere.
#[test]
fn nothing_is_removed_through_links() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::create_dir(elsewhere.path().join("documents")).unwrap();
    std::fs::write(elsewhere.path().join("documents/letter"), b"dear").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
    let storage = LocalStorage::new(folder.path());
    let through = |result: Result<(), StorageError>| matches!(result, Err(StorageError::ThroughLink { .. }));
    assert!(through(storage.remove_folder("link/documents")));
    assert!(through(storage.remove_file("link/documents/letter")));
    assert!(storage.remove_files(&["link/documents/letter", "link/documents/none"]).into_iter().all(through));
    assert!(storage.remove_folders(&["link/documents", "link/none"]).into_iter().all(through));
    assert_eq!(std::fs::read(elsewhere.path().join("documents/letter")).unwrap(), b"dear");
    // The link may be removed.
    assert!(storage.remove_folders(&["link"])[0].is_err());
    storage.remove_file("link").unwrap();
    assert!(elsewhere.path().join("documents/letter").is_file());
}

/// Each file exists until its successor exists, as for superseded commits. No consistent listing is
/// empty.
#[test]
fn a_listing_shows_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    let name = |number: u32| folder.path().join(format!("{number}.wrt"));
    fs::write(name(0), "0").unwrap();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..20_000 {
                fs::write(name(number + 1), "0").unwrap();
                fs::remove_file(name(number)).unwrap();
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut listings = 0;
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            assert!(!storage.list("").unwrap().is_empty(), "after {listings} listings");
            listings += 1;
        }
        assert!(listings > 10, "{listings}");
    });
}

//! The contract of [`Storage`], tested on each implementation.

use std::sync::Arc;

use tdb_storage::{CountingStorage, EntryKind, LocalStorage, MemoryStorage, Storage, StorageError};

/// Runs `body` on each kind of storage.
fn each(body: impl Fn(&dyn Storage)) {
    body(&MemoryStorage::new());
    let below = MemoryStorage::new().sub("deep/down").unwrap();
    below.create_folder("").unwrap();
    body(&below);
    let folder = tempfile::tempdir().unwrap();
    body(&LocalStorage::new(folder.path()));
    let folder = tempfile::tempdir().unwrap();
    body(&CountingStorage::new(Arc::new(LocalStorage::new(folder.path()))));
    body(&CountingStorage::new(Arc::new(MemoryStorage::new())));
}

fn names(storage: &dyn Storage, folder: &str) -> Vec<String> {
    storage.list(folder).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn what_is_made_is_found() {
    each(|storage| {
        assert_eq!(names(storage, ""), [""; 0]);
        storage.create_folder("a/b/c").unwrap();
        storage.create_folder("a/b").unwrap();
        storage.create_new("a/b/file", b"0123456789").unwrap();
        storage.create_new("a/b/empty", b"").unwrap();
        storage.create_new("a/b-file", b"x").unwrap();
        assert_eq!(names(storage, ""), ["a"]);
        assert_eq!(names(storage, "a"), ["b", "b-file"]);
        let entries: Vec<_> = storage.list("a/b").unwrap().into_iter().map(|e| (e.name, e.kind, e.size)).collect();
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        let expected = [("c", folder, 0), ("empty", file, 0), ("file", file, 10)];
        assert_eq!(entries, expected.map(|(name, kind, size)| (name.to_owned(), kind, size)));
        assert_eq!(storage.read("a/b/file").unwrap(), b"0123456789");
        assert_eq!(storage.read("a/b/empty").unwrap(), b"");
        assert_eq!(storage.kind("a/b/file").unwrap(), Some(EntryKind::File));
        assert_eq!(storage.kind("a/b").unwrap(), Some(EntryKind::Folder));
        assert_eq!(storage.kind("").unwrap(), Some(EntryKind::Folder));
        assert!(!storage.exists("a/b/nothing").unwrap());
        assert!(!storage.exists("a/b/file/below").unwrap());
    });
}

#[test]
fn names_sort_by_their_bytes() {
    each(|storage| {
        for name in ["b", "a", "a-", "a.b", "é", "Z", "_"] {
            storage.create_new(name, b"").unwrap();
            storage.create_folder(&format!("folder {name}")).unwrap();
        }
        let listed = names(storage, "");
        let mut sorted = listed.clone();
        sorted.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        assert_eq!((listed.len(), &listed), (14, &sorted));
    });
}

#[test]
fn reads_are_exact_or_fail() {
    each(|storage| {
        storage.create_new("f", b"0123456789").unwrap();
        let file = storage.open("f").unwrap();
        assert_eq!(file.size(), 10);
        let read = |offset: u64, len: usize| {
            let mut buffer = vec![0; len];
            file.read_into(offset, &mut buffer).map(|()| String::from_utf8(buffer).unwrap())
        };
        assert_eq!(read(3, 4).unwrap(), "3456");
        assert_eq!(read(0, 10).unwrap(), "0123456789");
        assert_eq!(read(10, 0).unwrap(), "");
        for (offset, len) in [(0, 11), (9, 2), (10, 1), (11, 0), (u64::MAX, 1), (u64::MAX, 0)] {
            assert!(matches!(read(offset, len), Err(StorageError::UnexpectedEnd { size: 10, .. })), "{offset} {len}");
        }
    });
}

#[test]
fn nothing_is_overwritten() {
    each(|storage| {
        storage.create_new("f", b"first").unwrap();
        storage.create_folder("d").unwrap();
        for path in ["f", "d"] {
            assert!(matches!(storage.create_new(path, b"second"), Err(StorageError::AlreadyExists { .. })));
        }
        assert_eq!(storage.read("f").unwrap(), b"first");
        assert!(matches!(storage.create_new("none/f", b""), Err(StorageError::NotFound { .. })));
        assert!(matches!(storage.create_new("f/g", b""), Err(StorageError::NotAFolder { .. })));
        for path in ["f", "f/g"] {
            assert!(matches!(storage.create_folder(path), Err(StorageError::NotAFolder { .. })), "{path}");
        }
    });
}

#[test]
fn an_unfinished_file_is_removed() {
    each(|storage| {
        storage.create_folder("d").unwrap();
        let mut file = storage.create_file("d/f").unwrap();
        assert!(storage.exists("d/f").unwrap());
        assert!(matches!(storage.create_file("d/f"), Err(StorageError::AlreadyExists { .. })));
        file.append(b"01").unwrap();
        file.append(b"").unwrap();
        file.append(b"234").unwrap();
        file.finish().unwrap();
        storage.sync_folder("d").unwrap();
        storage.sync_folder("").unwrap();
        assert_eq!(storage.read("d/f").unwrap(), b"01234");
        let mut file = storage.create_file("d/g").unwrap();
        file.append(b"56").unwrap();
        drop(file);
        drop(storage.create_file("d/h").unwrap());
        assert_eq!(names(storage, "d"), ["f"]);
        storage.create_file("d/empty").unwrap().finish().unwrap();
        assert_eq!(storage.read("d/empty").unwrap(), b"");
        assert!(matches!(storage.create_file("d"), Err(StorageError::AlreadyExists { .. })));
        assert!(matches!(storage.create_file("none/f"), Err(StorageError::NotFound { .. })));
        assert!(matches!(storage.create_file("d/f/g"), Err(StorageError::NotAFolder { .. })));
        assert!(matches!(storage.create_file(""), Err(StorageError::BadPath { .. })));
        assert!(matches!(storage.sync_folder("none"), Err(StorageError::NotFound { .. })));
        assert!(matches!(storage.sync_folder("d/f"), Err(StorageError::NotAFolder { .. })));
    });
}

#[test]
fn removed_paths_do_not_exist() {
    each(|storage| {
        storage.create_folder("d/e").unwrap();
        storage.create_new("d/e/f", b"1").unwrap();
        storage.create_new("d/g", b"2").unwrap();
        storage.create_new("d.x", b"3").unwrap();
        assert!(matches!(storage.remove_file("d"), Err(StorageError::NotAFile { .. })));
        assert!(matches!(storage.remove_folder("d/g"), Err(StorageError::NotAFolder { .. })));
        storage.remove_file("d/g").unwrap();
        assert!(storage.remove_file("d/g").unwrap_err().is_not_found());
        assert!(matches!(storage.rename("d", "d"), Err(StorageError::AlreadyExists { .. })));
        assert!(storage.rename("nothing", "n").unwrap_err().is_not_found());
        assert!(storage.rename("d", "no/folder").unwrap_err().is_not_found());
        storage.rename("d", "moved").unwrap();
        assert!(!storage.exists("d").unwrap() && storage.exists("moved/e/f").unwrap());
        storage.rename("moved/e/f", "g2").unwrap();
        assert!(matches!(storage.rename("g2", "moved"), Err(StorageError::AlreadyExists { .. })));
        storage.rename("g2", "moved/e/f").unwrap();
        storage.rename("moved", "d").unwrap();
        storage.remove_folder("d").unwrap();
        assert!(storage.remove_folder("d").unwrap_err().is_not_found());
        assert_eq!(names(storage, ""), ["d.x"]);
    });
}

#[test]
fn files_and_folders_are_distinguished() {
    each(|storage| {
        storage.create_new("f", b"").unwrap();
        storage.create_folder("d").unwrap();
        assert!(matches!(storage.list("f"), Err(StorageError::NotAFolder { .. })));
        assert!(matches!(storage.open("d"), Err(StorageError::NotAFile { .. })));
        assert!(matches!(storage.read(""), Err(StorageError::NotAFile { .. })));
        assert!(storage.list("none").unwrap_err().is_not_found());
        assert!(storage.open("none").unwrap_err().is_not_found());
    });
}

#[test]
fn every_operation_rejects_bad_paths() {
    each(|storage| {
        for path in ["/etc/passwd", "../x", "a/../b", "a//b", "a\\b", "a\0b", "./a", "a/"] {
            let errors = [
                storage.list(path).err(),
                storage.open(path).err(),
                storage.read(path).err(),
                storage.kind(path).err(),
                storage.exists(path).err(),
                storage.sub(path).err(),
                storage.create_folder(path).err(),
                storage.create_new(path, b"").err(),
                storage.create_file(path).err(),
                storage.sync_folder(path).err(),
                storage.remove_file(path).err(),
                storage.remove_folder(path).err(),
            ];
            for (index, error) in errors.into_iter().enumerate() {
                assert!(matches!(error, Some(StorageError::BadPath { .. })), "{path:?} {index}");
            }
            assert!(storage.describe(path).ends_with(path));
        }
        for error in [storage.remove_folder("").err(), storage.remove_file("").err(), storage.create_new("", b"").err()]
        {
            assert!(matches!(error, Some(StorageError::BadPath { .. })));
        }
    });
}

#[test]
fn a_sub_storage_is_rooted_below() {
    each(|storage| {
        let sub = storage.sub("x/y").unwrap();
        assert!(sub.list("").unwrap_err().is_not_found());
        sub.create_folder("").unwrap();
        sub.create_new("f", b"1").unwrap();
        assert_eq!(storage.read("x/y/f").unwrap(), b"1");
        assert_eq!(sub.describe("f"), storage.describe("x/y/f"));
        assert_eq!(names(&*sub.sub("").unwrap(), ""), ["f"]);
    });
}

#[test]
fn many_threads_share_a_file() {
    each(|storage| {
        let bytes: Vec<u8> = (0..4096u32).map(|i| (i % 251) as u8).collect();
        storage.create_new("f", &bytes).unwrap();
        let file = storage.open("f").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (file, bytes) = (&file, &bytes);
                scope.spawn(move || {
                    for start in (thread..4000).step_by(13) {
                        let mut buffer = [0; 96];
                        file.read_into(start as u64, &mut buffer).unwrap();
                        assert_eq!(buffer, bytes[start..start + 96]);
                    }
                });
            }
        });
    });
}

#[test]
fn files_are_replaced() {
    each(|storage| {
        storage.create_folder("a/folder").unwrap();
        storage.create_new("a/f", b"a longer text").unwrap();
        storage.replace("a/f", b"new").unwrap();
        storage.replace("a/g", b"").unwrap();
        assert_eq!(storage.read("a/f").unwrap(), b"new");
        assert_eq!(names(storage, "a"), ["f", "folder", "g"]);
        assert_eq!(names(storage, ""), ["a"]);
        assert!(matches!(storage.replace("a/folder", b""), Err(StorageError::NotAFile { .. })));
        assert!(storage.replace("none/f", b"").unwrap_err().is_not_found());
        assert!(matches!(storage.replace("a/f/below", b""), Err(StorageError::NotAFolder { .. })));
        assert!(matches!(storage.replace("../f", b""), Err(StorageError::BadPath { .. })));
        assert!(matches!(storage.replace("", b""), Err(StorageError::BadPath { .. })));
        assert_eq!(names(storage, "a"), ["f", "folder", "g"]);
    });
}

//! The contract of `Storage`, as far as it applies without folders.

use std::sync::Arc;

use tdb_object_store::object_store::memory::InMemory;
use tdb_object_store::{ObjectStorage, StoreOptions, StoreProblem, open};
use tdb_storage::{EntryKind, Part, Request, Storage, StorageError};

use crate::stores::{each, servers};

fn names(storage: &dyn Storage, folder: &str) -> Vec<String> {
    storage.list(folder).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// Returns the files below a folder, at any depth. Some servers still list empty folders.
fn files_below(storage: &dyn Storage, folder: &str) -> Vec<String> {
    let entries = match storage.list(folder) {
        Err(error) if error.is_not_found() => Vec::new(),
        listed => listed.unwrap(),
    };
    let below = |path: String, kind| match kind {
        EntryKind::File => vec![path],
        EntryKind::Folder => files_below(storage, &path),
    };
    entries.into_iter().flat_map(|entry| below(format!("{folder}/{}", entry.name), entry.kind)).collect()
}

#[test]
fn created_files_are_found() {
    each(&StoreOptions::default(), |storage| {
        storage.create_new("a/b/file", b"0123456789").unwrap();
        storage.create_new("a/b/empty", b"").unwrap();
        storage.create_new("a/b/c/d", b"x").unwrap();
        storage.create_new("a/b-file", b"x").unwrap();
        assert_eq!(names(&*storage, ""), ["a"]);
        assert_eq!(names(&*storage, "a"), ["b", "b-file"]);
        let entries: Vec<_> = storage.list("a/b").unwrap().into_iter().map(|e| (e.name, e.kind, e.size)).collect();
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        let expected = [("c", folder, 0), ("empty", file, 0), ("file", file, 10)];
        assert_eq!(entries, expected.map(|(name, kind, size)| (name.to_owned(), kind, size)));
        assert_eq!(storage.read("a/b/file").unwrap(), b"0123456789");
        assert_eq!(storage.read("a/b/empty").unwrap(), b"");
        for (path, kind) in
            [("a/b/file", Some(file)), ("a/b", Some(folder)), ("", Some(folder)), ("a/b/f", None), ("a/b/file/x", None)]
        {
            assert_eq!(storage.kind(path).unwrap(), kind, "{path}");
        }
        let below = storage.sub("a/b").unwrap();
        assert_eq!(below.read("c/d").unwrap(), b"x");
        assert_eq!(below.describe("c/d"), storage.describe("a/b/c/d"));
    });
}

/// Names with characters that URLs or shells treat specially.
pub(crate) const ODD: [&str; 14] =
    ["a b", "a%20b", "a+b", "é", "a~", "(a)", "a&b=c", "a#b", "a'b", "Z", "_", "a;b", "a@b", "a!b"];

#[test]
fn names_of_every_kind() {
    each(&StoreOptions::default(), |storage| {
        for name in ODD {
            storage.create_new(&format!("odd/{name}"), name.as_bytes()).unwrap();
        }
        let mut sorted = ODD.map(str::to_owned).to_vec();
        sorted.sort();
        assert_eq!(names(&*storage, "odd"), sorted);
        for name in ODD {
            assert_eq!(storage.read(&format!("odd/{name}")).unwrap(), name.as_bytes(), "{name}");
            storage.remove_file(&format!("odd/{name}")).unwrap();
        }
        assert_eq!(files_below(&*storage, "odd"), [""; 0]);
    });
}

/// In memory only, because some servers reject some of these names.
#[test]
fn names_may_have_every_printable_character() {
    let storage = ObjectStorage::new(Arc::new(InMemory::new()), "memory://bucket", "root%20a").unwrap();
    let letters = (' '..='~').chain(['é', '語']).filter(|letter| !['/', '\\'].contains(letter));
    let mut odd: Vec<String> = letters.map(|letter| format!("{letter}a{letter}")).collect();
    odd.extend(["%20", "%2F", "%+f", "50%", "%C3%A9", "a?"].map(str::to_owned));
    for name in &odd {
        storage.create_new(&format!("{name}/file"), name.as_bytes()).unwrap();
    }
    let mut sorted = odd.clone();
    sorted.sort();
    assert_eq!(names(&storage, ""), sorted);
    for name in &odd {
        let folder = storage.sub(name).unwrap();
        assert_eq!(folder.uri("file").unwrap(), format!("memory://bucket/root%20a/{name}/file"));
        assert_eq!(folder.read("file").unwrap(), name.as_bytes(), "{name}");
        storage.rename(name, &format!("{name}%20")).unwrap();
        assert_eq!(storage.read(&format!("{name}%20/file")).unwrap(), name.as_bytes(), "{name}");
        assert_eq!(storage.kind(name).unwrap(), None, "{name}");
    }
}

#[test]
fn parts_of_files() {
    each(&StoreOptions::default(), |storage| {
        storage.create_new("f", b"0123456789").unwrap();
        storage.create_new("none", b"").unwrap();
        let fetched = storage.fetch(&[
            Request::all("f", 10),
            Request::last("f", 3),
            Request::last("f", 30),
            Request::range("f", 2..5, 10),
            Request::range("f", 5..5, 10),
            Request::last("none", 4),
            Request::all("none", 0),
        ]);
        let bytes: Vec<_> = fetched.into_iter().map(|answer| answer.unwrap()).map(|it| (it.start, it.bytes)).collect();
        let expected: [(u64, &[u8]); 7] =
            [(0, b"0123456789"), (7, b"789"), (0, b"0123456789"), (2, b"234"), (5, b""), (0, b""), (0, b"")];
        assert_eq!(bytes, expected.map(|(start, bytes)| (start, bytes.to_vec())));
        let file = storage.open("f").unwrap();
        let mut buffer = [0; 4];
        file.read_into(6, &mut buffer).unwrap();
        assert_eq!((file.size(), &buffer), (10, b"6789"));
        assert!(matches!(
            file.read_into(7, &mut buffer),
            Err(StorageError::UnexpectedEnd { offset: 7, need: 4, size: 10, .. })
        ));
    });
}

/// Wrong sizes, and limits.
#[test]
fn wrong_sizes_and_limits_are_errors() {
    each(&StoreOptions::default(), |storage| {
        storage.create_new("f", b"0123456789").unwrap();
        let file = storage.open_sized("f", 1 << 40).unwrap();
        for offset in [8, 10, 1 << 39] {
            let error = file.read_into(offset, &mut [0; 4]).unwrap_err();
            assert!(matches!(error, StorageError::UnexpectedEnd { need: 4, size: 10, .. }), "{offset}: {error:?}");
        }
        let answers = storage.fetch(&[
            Request { path: "f".to_owned(), part: Part::All, limit: 9 },
            Request::range("f", 0..1 << 39, 1 << 40),
            Request::range("f", 4..20, 10),
            Request { path: "f".to_owned(), part: Part::Range { range: 0..8, size: 10 }, limit: 7 },
            Request::all("nowhere", 10),
        ]);
        let errors: Vec<_> = answers.into_iter().map(Result::unwrap_err).collect();
        assert!(matches!(errors[0], StorageError::OverLimit { size: 10, limit: 9, .. }), "{:?}", errors[0]);
        assert!(matches!(errors[1], StorageError::UnexpectedEnd { size: 10, .. }), "{:?}", errors[1]);
        assert!(matches!(errors[2], StorageError::UnexpectedEnd { .. }), "{:?}", errors[2]);
        assert!(matches!(errors[3], StorageError::RangeOverLimit { need: 8, limit: 7, .. }), "{:?}", errors[3]);
        assert!(matches!(errors[4], StorageError::NotFound { .. }), "{:?}", errors[4]);
        assert_eq!(errors[4].path(), storage.describe("nowhere"));
    });
}

/// Returns options with small parts, to cover multipart uploads too. Stores require at least 5 MiB.
fn small_parts() -> StoreOptions {
    let mut options = StoreOptions::default();
    options.part = 5 << 20;
    options
}

#[test]
fn nothing_is_overwritten() {
    each(&small_parts(), |storage| {
        storage.create_new("f", b"first").unwrap();
        assert!(matches!(storage.create_new("f", b"second"), Err(StorageError::AlreadyExists { .. })));
        for size in [3, 6 << 20] {
            let mut file = storage.create_file("f").unwrap();
            file.append(&vec![1; size]).unwrap();
            let error = file.finish().unwrap_err();
            assert!(matches!(error, StorageError::AlreadyExists { .. }), "{error:?}");
        }
        assert_eq!(storage.read("f").unwrap(), b"first");
    });
}

#[test]
fn files_appear_when_finished() {
    each(&small_parts(), |storage| {
        for size in [0usize, 1, 5 << 20, (5 << 20) + 1, 23 << 20] {
            let bytes: Vec<u8> = (0..size).map(|at| (at / 7 % 251) as u8).collect();
            let path = format!("large/{size}");
            let mut file = storage.create_file(&path).unwrap();
            for piece in bytes.chunks(777_777) {
                file.append(piece).unwrap();
            }
            assert!(!storage.exists(&path).unwrap(), "seen too early");
            file.finish().unwrap();
            assert!(storage.read(&path).unwrap() == bytes, "{size}");
        }
        let mut dropped = storage.create_file("dropped").unwrap();
        dropped.append(&vec![0; 6 << 20]).unwrap();
        drop(dropped);
        assert!(!storage.exists("dropped").unwrap());
    });
}

#[test]
fn removals_and_renames() {
    each(&StoreOptions::default(), |storage| {
        for path in ["a/1", "a/b/2", "a/b/c/3", "ab/4"] {
            storage.create_new(path, path.as_bytes()).unwrap();
        }
        storage.rename("a", "moved/here").unwrap();
        assert_eq!(files_below(&*storage, "a"), [""; 0]);
        assert_eq!(storage.read("moved/here/b/c/3").unwrap(), b"a/b/c/3");
        assert_eq!(storage.read("ab/4").unwrap(), b"ab/4");
        storage.rename("ab/4", "ab/5").unwrap();
        assert!(matches!(storage.rename("ab/5", "moved"), Err(StorageError::AlreadyExists { .. })));
        assert!(storage.rename("nothing", "x").unwrap_err().is_not_found());
        storage.remove_folder("moved/here/b").unwrap();
        assert_eq!(files_below(&*storage, "moved/here"), ["moved/here/1"]);
        assert!(storage.remove_folder("moved/here/b").unwrap_err().is_not_found());
        assert!(storage.remove_file("ab/4").unwrap_err().is_not_found());
        storage.remove_file("ab/5").unwrap();
        for path in ["../x", "/a", "a//b", "a/./b"] {
            assert!(matches!(storage.read(path), Err(StorageError::BadPath { .. })), "{path}");
        }
        assert!(matches!(storage.remove_folder(""), Err(StorageError::BadPath { .. })));
    });
}

#[test]
fn missing_buckets_are_named() {
    for url in servers() {
        let (scheme, rest) = url.split_once("://").unwrap();
        let settings = rest.find('?').map_or("", |at| &rest[at..]);
        let storage = open(&format!("{scheme}://no-such-bucket-of-tests/array{settings}")).unwrap();
        let error = storage.list("").unwrap_err();
        assert_eq!(StoreProblem::of(&error), Some(&StoreProblem::NoBucket), "{url}: {error}");
    }
}

/// Calls from within another runtime.
#[test]
fn calls_work_inside_of_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        each(&StoreOptions::default(), |storage| {
            storage.create_new("f", b"bytes").unwrap();
            assert_eq!(storage.read("f").unwrap(), b"bytes");
        });
    });
}

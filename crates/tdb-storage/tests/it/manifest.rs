//! Manifests, and storages with listings from manifests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use tdb_storage::{
    CancelToken, CountingStorage, EntryKind, LocalStorage, MANIFEST_NAME, Manifest, ManifestChange, ManifestError,
    ManifestStorage, MemoryStorage, Request, Storage, StorageError,
};
use tdb_testkit::allocations;

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(text.as_bytes())
}

/// Parses a line after the header.
fn line(line: &str) -> Result<Manifest, ManifestError> {
    parse(&format!("tdb manifest 1\n{line}\n"))
}

#[test]
fn malformed_manifests_are_rejected() {
    for text in ["", "tdb manifest", "tdb manifest 1", "<html>\n", "\u{feff}tdb manifest 1\n", "tdb manifest 1\r\n"] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, ManifestError::NotAManifest | ManifestError::UnknownVersion { .. }), "{text:?}");
    }
    let newer = parse("tdb manifest 2\n1 a\n").unwrap_err();
    assert_eq!(newer, ManifestError::UnknownVersion { found: "tdb manifest 2".to_owned() });
    let lines = [
        "",
        " ",
        "1",
        "1 ",
        "a",
        " a",
        "-1 a",
        "+1 a",
        "1.0 a",
        "0x1 a",
        "18446744073709551616 a",
        "1\ta",
        "1 a\r",
        "1 /a",
        "1 a//b",
        "1 ../a",
        "1 a/..",
        "1 .",
        "1 a\\b",
        "1 a%00",
        "1 %2e%2E/a",
        "1 a%2F%2Fb",
        "1 a%",
        "1 a%2",
        "1 a%g0",
        "1 %FF",
        "1 a\u{85}b",
        "1 a\u{2028}b",
        "1 a/",
        "0 /",
        "0 //",
        "0 a//",
        // Two lines.
        "1 b\n1 a",
        "1 a\n1 a",
        "1 a\n2 %61",
        "1 a\n1 a/b",
        "0 a/\n1 a/b",
        "1 a\n1 a.b\n1 a/b",
        "1 a\n0 a/",
        "1 a\n\n",
    ];
    for text in lines {
        let error = line(text).unwrap_err();
        assert!(matches!(error, ManifestError::Line { .. }), "{text:?}: {error}");
    }
    // A truncated manifest.
    assert!(matches!(parse("tdb manifest 1\n1 a\n1 ab"), Err(ManifestError::Line { line: 3, .. })));
    line(&format!("1 {}a", "a/".repeat(64))).unwrap();
    line(&format!("1 {}a", "a/".repeat(65))).unwrap_err();
}

#[test]
fn memory_of_the_parser_is_bounded() {
    let mut text = "tdb manifest 1\n".to_owned();
    (100_000..150_000).for_each(|number| text.push_str(&format!("0 {number}\n")));
    let peak = allocations::peak_while(|| assert_eq!(parse(&text).unwrap().files(), 50_000));
    assert!(peak < 20 * text.len() as u64, "{peak} bytes for {}", text.len());
}

#[test]
fn manifests_skip_manifests_and_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let storage = LocalStorage::new(folder.path());
    storage.create_folder("array/__fragments").unwrap();
    storage.create_folder("array/.tdb-1-0.tmp/below").unwrap();
    storage.create_folder(".tdb-quarantine/1").unwrap();
    for path in [MANIFEST_NAME, "array/tdb-manifest.txt", "array/.tdb-1-1.tmp", "array/f", "array/tdb-manifest.txt2"] {
        storage.create_new(path, b"bytes").unwrap();
    }
    let text = Manifest::of(&storage).unwrap().to_string();
    assert_eq!(text, "tdb manifest 1\n0 array/__fragments/\n5 array/f\n5 array/tdb-manifest.txt2\n");
    assert_eq!(Manifest::of(&MemoryStorage::new()).unwrap().to_string(), "tdb manifest 1\n");
}

#[cfg(unix)]
#[test]
fn cycles_of_links_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("a")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/again")).unwrap();
    let error = Manifest::of(&LocalStorage::new(folder.path())).unwrap_err();
    assert!(error.to_string().contains("cycle") || error.to_string().contains("levels"), "{error}");
}

/// Each level has 64 links to the next level. The paths exceed the limit of folders with short names,
/// and the limit of bytes with long names.
#[cfg(unix)]
#[test]
fn repeated_links_are_an_error() {
    for width in [2, 250] {
        let folder = tempfile::tempdir().unwrap();
        for level in 0..4 {
            let place = folder.path().join(format!("level{level}"));
            std::fs::create_dir(&place).unwrap();
            for link in 0..64 {
                let name = format!("{link:0width$}");
                std::os::unix::fs::symlink(format!("../level{}", level + 1), place.join(name)).unwrap();
            }
        }
        std::fs::create_dir(folder.path().join("level4")).unwrap();
        let error = Manifest::of(&LocalStorage::new(folder.path().join("level0"))).unwrap_err();
        assert!(matches!(error, StorageError::BadPath { .. }), "{error}");
        assert!(error.to_string().contains("repeated links"), "{error}");
    }
}

#[test]
fn changes_name_each_path() {
    let old = line("1 a\n2 b\n0 c/\n4 d").unwrap();
    let new = line("1 a\n3 b\n4 d\n5 e").unwrap();
    let changes = old.changes(&new);
    assert_eq!(
        changes,
        [
            ManifestChange::Resized { path: "b".to_owned(), listed: 2, found: 3 },
            ManifestChange::Removed { path: "c/".to_owned() },
            ManifestChange::Added { path: "e".to_owned() },
        ]
    );
    assert_eq!(
        old.difference(&new).as_deref(),
        Some("b: listed with 2 bytes, but has 3 bytes, and 2 more differences")
    );
    assert_eq!(old.difference(&old), None);
}

/// A storage of three files, and its view through a manifest.
fn three() -> (MemoryStorage, ManifestStorage) {
    let files = MemoryStorage::new();
    files.insert("a/f", *b"0123456789").unwrap();
    files.insert("a/g", *b"abc").unwrap();
    files.insert("a/empty", *b"").unwrap();
    let manifest = Manifest::of(&files).unwrap();
    let storage = ManifestStorage::new(Arc::new(files.clone()), manifest);
    (files, storage)
}

#[test]
fn requests_are_answered_by_listed_sizes() {
    let (files, storage) = three();
    // Not listed, and therefore not found.
    files.insert("a/new", *b"x").unwrap();
    let requests = [
        Request::all("a/f", 10),
        Request::all("a/f", 9),
        Request::last("a/f", 4),
        Request::last("a/g", 40),
        Request::range("a/f", 2..4, 10),
        Request::range("a/f", 2..14, 20),
        Request::all("a/new", 10),
        Request::all("../a", 10),
        Request::all("a", 10),
        Request::last("a/empty", 10),
    ];
    let shown = |answer: tdb_storage::Result<tdb_storage::Fetched>| match answer {
        Ok(fetched) => format!("{} {}", fetched.start, String::from_utf8(fetched.bytes).unwrap()),
        Err(error) => format!("{error:?}").split_whitespace().next().unwrap().to_owned(),
    };
    let expected = [
        "0 0123456789",
        "OverLimit",
        "6 6789",
        "0 abc",
        "2 23",
        "UnexpectedEnd",
        "NotFound",
        "BadPath",
        "NotAFile",
        "0 ",
    ];
    let one: Vec<_> = requests.iter().map(|request| shown(storage.fetch_one(request))).collect();
    assert_eq!(one, expected);
    assert_eq!(storage.fetch(&requests).into_iter().map(shown).collect::<Vec<_>>(), expected);
    let mut each = BTreeMap::new();
    storage.fetch_each(&requests, &CancelToken::new(), &mut |place, answer| {
        assert!(each.insert(place, shown(answer)).is_none());
    });
    assert_eq!(each.into_values().collect::<Vec<_>>(), expected);
    let cancel = CancelToken::new();
    cancel.cancel();
    storage.fetch_each(&requests, &cancel, &mut |place, _| panic!("answer {place} after cancellation"));
}

#[test]
fn changed_files_are_reported_as_a_stale_manifest() {
    for change in ["removed", "shorter", "longer", "a folder"] {
        let (files, storage) = three();
        let open = storage.open("a/f").unwrap();
        files.remove_file("a/f").unwrap();
        match change {
            "shorter" => files.insert("a/f", *b"0").unwrap(),
            "longer" => files.insert("a/f", *b"0123456789x").unwrap(),
            "a folder" => files.create_folder("a/f").unwrap(),
            _ => {}
        }
        let requests = [Request::all("a/f", 10), Request::last("a/f", 1), Request::range("a/f", 0..1, 10)];
        let each = Mutex::new(Vec::new());
        storage.fetch_each(&requests, &CancelToken::new(), &mut |_, answer| each.lock().unwrap().push(answer));
        let mut answers: Vec<_> = requests.iter().map(|request| storage.fetch_one(request)).collect();
        answers.extend(storage.fetch(&requests));
        answers.extend(each.into_inner().unwrap());
        assert_eq!(answers.len(), 9);
        let mut errors: Vec<StorageError> = answers.into_iter().map(Result::unwrap_err).collect();
        errors.extend([storage.open("a/f").unwrap_err(), storage.open_sized("a/f", 10).unwrap_err()]);
        for error in errors {
            assert!(matches!(error, StorageError::StaleManifest { .. }), "{change}: {error}");
            assert!(error.to_string().ends_with("older than the array, run `tdb manifest` again"), "{error}");
            assert!(error.to_string().starts_with("memory:a/f: "), "{error}");
        }
        // The storage in memory keeps the bytes of an open file.
        open.read_into(0, &mut [0]).unwrap();
        let beyond = open.read_into(5, &mut [0; 9]).unwrap_err();
        assert!(matches!(beyond, StorageError::UnexpectedEnd { .. }), "{beyond}");
    }
}

#[test]
fn opening_costs_one_request_and_listings_none() {
    let (files, _) = three();
    let manifest = Manifest::of(&files).unwrap().to_string();
    files.create_new(MANIFEST_NAME, manifest.as_bytes()).unwrap();
    let counting = CountingStorage::new(Arc::new(files));
    let storage = ManifestStorage::open(Arc::new(counting.clone())).unwrap();
    let before = counting.counters();
    assert_eq!(storage.list("a").unwrap().len(), 3);
    assert_eq!(storage.sub("a").unwrap().file_size("f").unwrap(), Some(10));
    assert_eq!(storage.sub("a").unwrap().kind("").unwrap(), Some(EntryKind::Folder));
    assert_eq!(counting.counters(), before);
    assert_eq!((before.lists, before.bytes), (0, manifest.len() as u64));
}

#[test]
fn missing_and_malformed_manifests_are_distinguished() {
    let files = MemoryStorage::new();
    let open = || ManifestStorage::open(Arc::new(files.clone())).unwrap_err();
    assert!(open().is_not_found());
    files.insert(MANIFEST_NAME, *b"<!DOCTYPE html>").unwrap();
    assert!(matches!(open(), StorageError::BadManifest { source: ManifestError::NotAManifest, .. }));
}

#[test]
fn writes_are_refused() {
    let (files, storage) = three();
    let before = Manifest::of(&files).unwrap();
    let refused = [
        storage.create_new("new", b"").unwrap_err(),
        storage.replace("a/f", b"").unwrap_err(),
        storage.create_file("new").unwrap_err(),
        storage.create_folder("new").unwrap_err(),
        storage.sync_folder("a").unwrap_err(),
        storage.remove_file("a/f").unwrap_err(),
        storage.remove_files(&["a/f"]).remove(0).unwrap_err(),
        storage.remove_folder("a").unwrap_err(),
        storage.remove_folders(&["a"]).remove(0).unwrap_err(),
        storage.rename("a", "b").unwrap_err(),
    ];
    for error in refused {
        assert!(error.to_string().ends_with("read-only: opened by a manifest"), "{error}");
    }
    assert_eq!(Manifest::of(&files).unwrap(), before);
}

fn tree() -> impl Strategy<Value = Vec<(String, Option<u8>)>> {
    let name = prop::sample::select(vec!["a", "b", "a-", "a.b", "é", "%", "%41", "\n", "a b", "\u{2028}", "\u{1}"]);
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    prop::collection::vec((path, prop::option::of(0u8..9)), 0..12)
}

proptest! {
    #[test]
    fn listings_are_the_same_as_of_the_files(tree in tree(), asked in prop::collection::vec(0usize..4, 0..3)) {
        let files = MemoryStorage::new();
        for (path, size) in tree {
            // Fails if the path collides with an earlier path. The storage is then unchanged.
            let _ = match size {
                Some(size) => files.insert(&path, vec![0; size.into()]),
                None => files.create_folder(&path),
            };
        }
        let manifest = Manifest::of(&files).unwrap();
        let text = manifest.to_string();
        prop_assert_eq!(Manifest::parse(text.as_bytes()).unwrap(), manifest.clone());
        prop_assert_eq!(text.lines().count(), manifest.entries().len() + 1);
        let storage = ManifestStorage::new(Arc::new(files.clone()), manifest);
        let mut folders = vec![String::new(), "none".to_owned(), "../a".to_owned(), "a/".to_owned()];
        folders.extend(asked.iter().map(|index| ["a", "a/b", "%41/é", "\n"][*index].to_owned()));
        while let Some(folder) = folders.pop() {
            let listed = storage.list(&folder);
            match (&listed, files.list(&folder)) {
                (Ok(listed), Ok(found)) => prop_assert_eq!(listed, &found),
                (Err(error), Err(expected)) => prop_assert_eq!(error.to_string(), expected.to_string()),
                (listed, found) => prop_assert!(false, "{:?} {:?}", listed, found),
            }
            prop_assert_eq!(storage.kind(&folder).ok(), files.kind(&folder).ok());
            for entry in listed.unwrap_or_default() {
                let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
                match entry.kind {
                    EntryKind::File => prop_assert_eq!(storage.read(&path).unwrap(), files.read(&path).unwrap()),
                    EntryKind::Folder => folders.push(path),
                }
            }
        }
    }
}

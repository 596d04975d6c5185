//! The storage in memory behaves like the file system for any sequence of operations, errors
//! included.

use proptest::prelude::*;
use tdb_storage::{LocalStorage, MemoryStorage, Result, Storage, StorageError};

#[derive(Clone, Debug)]
enum Step {
    CreateFolder(String),
    CreateNew(String, Vec<u8>),
    CreateFile(String, Vec<u8>, bool),
    SyncFolder(String),
    RemoveFile(String),
    RemoveFiles(Vec<String>),
    RemoveFolder(String),
    RemoveFolders(Vec<String>),
    List(String),
    Read(String),
    Kind(String),
    ReadPart(String, u64, usize),
}

/// Few names, so that paths collide, and some invalid paths.
fn path() -> impl Strategy<Value = String> {
    let component = prop::sample::select(vec!["a", "b", "a-", "é"]);
    let good = prop::collection::vec(component, 0..4).prop_map(|components| components.join("/"));
    prop_oneof![20 => good, 1 => prop::sample::select(vec!["..", "a/../b", "/a", "a//b", "a/"]).prop_map(str::to_owned)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => path().prop_map(Step::CreateFolder),
        4 => (path(), prop::collection::vec(any::<u8>(), 0..8)).prop_map(|(path, bytes)| Step::CreateNew(path, bytes)),
        2 => (path(), prop::collection::vec(any::<u8>(), 0..8), any::<bool>())
            .prop_map(|(path, bytes, finish)| Step::CreateFile(path, bytes, finish)),
        1 => path().prop_map(Step::SyncFolder),
        1 => path().prop_map(Step::RemoveFile),
        1 => prop::collection::vec(path(), 0..4).prop_map(Step::RemoveFiles),
        1 => path().prop_map(Step::RemoveFolder),
        1 => prop::collection::vec(path(), 0..4).prop_map(Step::RemoveFolders),
        2 => path().prop_map(Step::List),
        2 => path().prop_map(Step::Read),
        2 => path().prop_map(Step::Kind),
        1 => (path(), 0u64..10, 0usize..10).prop_map(|(path, offset, len)| Step::ReadPart(path, offset, len)),
    ]
}

/// Formats the outcome of a step without the storage's name.
fn outcome(storage: &dyn Storage, step: &Step) -> String {
    fn show<T: std::fmt::Debug>(result: Result<T>) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(StorageError::UnexpectedEnd { offset, need, size, .. }) => {
                format!("UnexpectedEnd {offset} {need} {size}")
            }
            Err(error) => format!("{error:?}").split_whitespace().next().unwrap().to_owned(),
        }
    }
    match step {
        Step::CreateFolder(path) => show(storage.create_folder(path)),
        Step::CreateNew(path, bytes) => show(storage.create_new(path, bytes)),
        Step::CreateFile(path, bytes, finish) => show(storage.create_file(path).and_then(|mut file| {
            for piece in bytes.chunks(3) {
                file.append(piece)?;
            }
            if *finish { file.finish() } else { Ok(()) }
        })),
        Step::SyncFolder(path) => show(storage.sync_folder(path)),
        Step::RemoveFile(path) => show(storage.remove_file(path)),
        Step::RemoveFiles(paths) => {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            storage.remove_files(&paths).into_iter().map(show).collect()
        }
        Step::RemoveFolder(path) => show(storage.remove_folder(path)),
        Step::RemoveFolders(paths) => {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            storage.remove_folders(&paths).into_iter().map(show).collect()
        }
        Step::List(path) => {
            let names = storage.list(path).map(|all| all.into_iter().map(|entry| (entry.name, entry.kind)).collect());
            assert_eq!(show(storage.names(path)), show::<Vec<(String, tdb_storage::EntryKind)>>(names));
            show(storage.list(path))
        }
        Step::Read(path) => show(storage.read(path)),
        Step::Kind(path) => show(storage.kind(path)),
        Step::ReadPart(path, offset, len) => {
            let mut buffer = vec![0; *len];
            show(storage.open(path).and_then(|file| file.read_into(*offset, &mut buffer)).map(|()| buffer))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn memory_behaves_like_the_file_system(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let (local, memory) = (LocalStorage::new(folder.path()), MemoryStorage::new());
        for step in &steps {
            prop_assert_eq!(outcome(&local, step), outcome(&memory, step), "{:?}", step);
        }
    }
}

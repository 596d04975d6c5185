//! Error messages.

use std::io;

use tdb_storage::{ManifestError, MemoryStorage, Storage, StorageError};

#[test]
fn messages() {
    let memory = MemoryStorage::new();
    memory.insert("array/file", *b"12345").unwrap();
    let other = io::Error::other("the disk is on fire");
    let messages = [
        memory.read("array/none").unwrap_err(),
        memory.create_new("array/file", b"").unwrap_err(),
        memory.list("array/file").unwrap_err(),
        memory.read("array").unwrap_err(),
        memory.read("../array").unwrap_err(),
        memory.read("/array").unwrap_err(),
        memory.read("array\\file").unwrap_err(),
        memory.remove_folder("").unwrap_err(),
        memory.open("array/file").unwrap().read_into(3, &mut [0; 4]).unwrap_err(),
        StorageError::from_io("array".to_owned(), io::ErrorKind::PermissionDenied.into()),
        StorageError::from_io("array".to_owned(), other),
        StorageError::TooLarge { path: "array/file".to_owned(), size: u64::MAX },
        StorageError::BadManifest { path: "array/tdb-manifest.txt".to_owned(), source: ManifestError::NotAManifest },
        StorageError::StaleManifest { path: "array/file".to_owned(), why: "a listed file does not exist".to_owned() },
    ]
    .map(|error| error.to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

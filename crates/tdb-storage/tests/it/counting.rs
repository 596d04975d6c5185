//! Counters equal the requests received by the wrapped storage.

use std::sync::Arc;

use tdb_storage::{CountingStorage, MemoryStorage, Storage};

#[test]
fn every_request_counts_once() {
    let memory = MemoryStorage::new();
    memory.insert("a/b/file", *b"0123456789").unwrap();
    let storage = CountingStorage::new(Arc::new(memory));
    let sub = storage.sub("a").unwrap();
    sub.list("b").unwrap();
    sub.list("none").unwrap_err();
    let file = sub.open("b/file").unwrap();
    file.read_into(2, &mut [0; 3]).unwrap();
    file.read_into(9, &mut [0; 3]).unwrap_err();
    storage.read("a/b/file").unwrap();
    sub.exists("b/file").unwrap();
    assert_eq!(storage.counters().to_string(), "2 lists, 3 opens, 3 reads, 13 bytes");
    assert_eq!(storage.clone().take().bytes, 13);
    storage.create_folder("c").unwrap();
    storage.remove_folder("c").unwrap();
    assert_eq!(storage.counters().to_string(), "0 lists, 0 opens, 0 reads, 0 bytes, 2 writes, 0 bytes written");
    storage.take();
    let mut file = storage.create_file("g").unwrap();
    file.append(b"0123").unwrap();
    file.append(b"45").unwrap();
    file.finish().unwrap();
    storage.sync_folder("").unwrap();
    storage.create_new("h", b"6").unwrap();
    assert_eq!(storage.counters().to_string(), "0 lists, 0 opens, 0 reads, 0 bytes, 6 writes, 7 bytes written");
}

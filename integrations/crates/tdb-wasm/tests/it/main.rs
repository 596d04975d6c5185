//! Requests of the package, compared with those of the native reader.
#![allow(clippy::unwrap_used)] // test helpers unwrap like tests

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tdb_array::tdb_filters::EncryptionKey;
use tdb_array::tdb_schema::Attribute;
use tdb_array::tdb_storage::{CountingStorage, EntryKind, MemoryStorage, ReadProfile, Storage};
use tdb_array::{ArrayError, ArrayOptions};
use tdb_testkit::LatentStorage;
use tdb_testkit::fixtures::{self, Fixture};
use tdb_wasm::{OpenArray, Session};

/// The profile of the package.
const PROFILE: ReadProfile = ReadProfile::new(128 << 10, 8 << 20, 256);

/// The time of opening, after all writes.
const NOW: f64 = 4e12;

/// Answers the needs of the package from a storage, and counts the requests of ranges. A manifest
/// lists all folders of a source at once.
struct Server {
    storage: Arc<MemoryStorage>,
    session: Session,
    requests: u64,
}

impl Server {
    /// Repeats a call until nothing is missing.
    fn run(&mut self, mut call: impl FnMut() -> String) -> Value {
        loop {
            let answer: Value = serde_json::from_str(&call()).unwrap();
            assert!(answer["error"].is_null(), "{answer}");
            let Some(need) = answer.get("need") else { return answer["done"].clone() };
            for folder in need["folders"].as_array().unwrap() {
                self.list(folder.as_str().unwrap());
            }
            for range in need["ranges"].as_array().unwrap() {
                self.requests += 1;
                let (path, start, end) = (range[0].as_str().unwrap(), range[1].as_u64(), range[2].as_u64());
                let (start, end) = (start.unwrap(), end.unwrap());
                let mut bytes = vec![0; usize::try_from(end - start).unwrap()];
                self.storage.open(path).unwrap().read_into(start, &mut bytes).unwrap();
                self.session.supply(1, path, start as f64, bytes);
            }
        }
    }

    fn list(&self, folder: &str) {
        let listed = self.storage.list(folder).ok().map(|entries| {
            let size = |kind, size| if kind == EntryKind::File { json!(size) } else { Value::Null };
            let entries: Vec<_> =
                entries.iter().map(|entry| json!([entry.name, size(entry.kind, entry.size)])).collect();
            json!(entries).to_string()
        });
        self.session.supply_folder(folder, listed);
    }
}

/// Opens an array, and reads all cells. Returns the numbers of cells and of requests.
fn of_package(fixture: &Fixture, key: Option<[u8; 32]>) -> (u64, u64) {
    let mut server = Server { storage: fixture.array_storage(), session: Session::new("a"), requests: 0 };
    let mut array = OpenArray::new(&server.session, "", "{}", key.map(Into::into), NOW);
    server.run(|| array.open());
    let mut cursor = array.read("{}", 1, false);
    let mut cells = 0;
    loop {
        let step = server.run(|| cursor.step());
        if step.is_null() {
            return (cells, server.requests);
        }
        cells += step["rows"].as_u64().unwrap();
        cursor.take();
    }
}

fn of_native_reader(fixture: &Fixture, key: Option<[u8; 32]>) -> Result<(u64, u64), ArrayError> {
    let remote = LatentStorage::with_profile(fixture.array_storage(), Duration::ZERO, u64::MAX, PROFILE);
    let storage = CountingStorage::new(Arc::new(remote));
    let array = ArrayOptions::new().threads(1).key(key.map(EncryptionKey::new)).open_on(Arc::new(storage.clone()))?;
    // The package returns the values of enumerations with the cells.
    for name in array.schema().attributes().iter().filter_map(Attribute::enumeration) {
        array.enumeration(name)?;
    }
    let mut cells = 0;
    for batch in array.read().batches()? {
        cells += batch?.len() as u64;
    }
    Ok((cells, storage.counters().reads))
}

#[test]
fn package_sends_no_more_requests_than_the_native_reader() {
    let mut sums = (0, 0);
    for fixture in fixtures::all() {
        let key = fixture.expected().key();
        let (expected, native) = of_native_reader(&fixture, key).unwrap();
        let (cells, requests) = of_package(&fixture, key);
        assert_eq!(cells, expected, "{}", fixture.name());
        assert!(requests <= native, "{}: {requests} requests, natively {native}", fixture.name());
        sums = (sums.0 + requests, sums.1 + native);
    }
    println!("{} requests, natively {}", sums.0, sums.1);
}

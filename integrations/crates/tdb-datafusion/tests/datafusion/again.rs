//! Several statements in one session: changes are visible, and unchanged files are not read again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::tdb_array::tdb_filters::EncryptionKey;
use tdb_datafusion::tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, ArrayOptions, CreateOptions, WriteBatch};
use tdb_datafusion::tdb_storage::{CountingStorage, LocalStorage, MemoryStorage, Storage};
use tdb_datafusion::{Opener, SessionOptions, session};
use tdb_maintain::{ConsolidateFragments, Vacuum};

use crate::support::rows;

/// Creates a session on local folders, with counters for storage requests.
fn counted() -> (SessionContext, CountingStorage) {
    let counting = CountingStorage::new(Arc::new(MemoryStorage::new()));
    let counts = counting.clone();
    let opener = Opener::new(move |uri| Ok(Arc::new(counts.alongside(Arc::new(LocalStorage::new(uri))))));
    (session(SessionOptions::new(opener).partitions(1)).unwrap(), counting)
}

fn schema(attribute: Attribute) -> ArrayDefinition {
    let x = Dimension::new("x", 0i32..=9_999).with_tile(10);
    ArrayDefinition::new(SchemaBuilder::sparse().dimension(x).attribute(attribute).build().unwrap()).unwrap()
}

fn create(path: &std::path::Path, attribute: Attribute) {
    let storage = Arc::new(LocalStorage::new(path)) as Arc<dyn Storage>;
    CreateOptions::new().create_on(&storage, schema(attribute)).unwrap();
}

fn write(path: &std::path::Path, x: &[i32], a: &[i64]) {
    Array::open(path).unwrap().write().cells(WriteBatch::new().with("x", x).with("a", a)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_statements_reuse_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    create(&path, Attribute::new("a", Datatype::Int64));
    for start in 0..20 {
        write(&path, &[start * 10, start * 10 + 1], &[i64::from(start), -1]);
    }
    let (session, counting) = counted();
    let sql = format!("SELECT count(*), min(a), max(a) FROM '{}'", path.display());
    assert_eq!(rows(&session, &sql).await.unwrap(), ["40 | -1 | 19"]);
    assert!(counting.take().reads >= 20);
    for _ in 0..2 {
        assert_eq!(rows(&session, &sql).await.unwrap(), ["40 | -1 | 19"]);
        let counters = counting.take();
        assert_eq!((counters.lists, counters.reads), (3, 0));
    }
    write(&path, &[500], &[77]);
    assert_eq!(rows(&session, &sql).await.unwrap(), ["41 | -1 | 77"]);
    assert_eq!(counting.take().reads, 1);
    // Also reuses the known state by another name, and at another time.
    let create = format!("CREATE EXTERNAL TABLE t STORED AS TILEDB LOCATION '{}'", path.display());
    rows(&session, &create).await.unwrap();
    assert_eq!(rows(&session, "SELECT count(*), min(a), max(a) FROM t").await.unwrap(), ["41 | -1 | 77"]);
    let then = format!("SELECT count(*) FROM '{}@2199-01-01'", path.display());
    assert_eq!(rows(&session, &then).await.unwrap(), ["41"]);
    assert_eq!(counting.take().reads, 0);
    assert_eq!(rows(&session, &sql).await.unwrap(), ["41 | -1 | 77"]);
    assert_eq!(counting.take().reads, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_between_statements_are_visible() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    create(&path, Attribute::new("a", Datatype::Int64));
    write(&path, &[1, 2, 3], &[1, 2, 3]);
    write(&path, &[11, 12], &[4, 5]);
    let (session, _) = counted();
    let sql = format!("SELECT count(*), min(a), max(a), sum(a) FROM '{}'", path.display());
    assert_eq!(rows(&session, &sql).await.unwrap(), ["5 | 1 | 5 | 15"]);
    ConsolidateFragments::new().plan(&Array::open(&path).unwrap()).unwrap().run().unwrap();
    assert_eq!(rows(&session, &sql).await.unwrap(), ["5 | 1 | 5 | 15"]);
    Vacuum::fragments().plan(&Array::open(&path).unwrap()).unwrap().run().unwrap();
    assert_eq!(rows(&session, &sql).await.unwrap(), ["5 | 1 | 5 | 15"]);
    rows(&session, &format!("DELETE FROM '{}' WHERE a = 5", path.display())).await.unwrap();
    assert_eq!(rows(&session, &sql).await.unwrap(), ["4 | 1 | 4 | 10"]);
    rows(&session, &format!("INSERT INTO '{}' VALUES (2, -9)", path.display())).await.unwrap();
    assert_eq!(rows(&session, &sql).await.unwrap(), ["4 | -9 | 4 | -1"]);
    // Another array in the same place, then none.
    std::fs::remove_dir_all(&path).unwrap();
    create(&path, Attribute::new("b", Datatype::Float32));
    let error = rows(&session, &sql).await.unwrap_err().to_string();
    assert!(error.contains("No field named a"), "{error}");
    assert_eq!(rows(&session, &format!("SELECT count(b) FROM '{}'", path.display())).await.unwrap(), ["0"]);
    std::fs::remove_dir_all(&path).unwrap();
    assert!(rows(&session, &sql).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn removed_key_opens_no_array() {
    let storage = Arc::new(MemoryStorage::new());
    let key = EncryptionKey::new([7; 32]);
    let on = storage.clone() as Arc<dyn Storage>;
    let create = CreateOptions::new().key(key.clone());
    create.create_on(&on, schema(Attribute::new("a", Datatype::Int64))).unwrap();
    let array = ArrayOptions::new().key(key.clone()).open_on(on).unwrap();
    array.write().cells(WriteBatch::new().with("x", &[1i32]).with("a", &[2i64])).unwrap();
    let gives = Arc::new(AtomicBool::new(true));
    let is_given = gives.clone();
    let opener = Opener::new(move |_| Ok(storage.clone()));
    let opener = opener.with_keys(move |_| is_given.load(Ordering::Relaxed).then(|| key.clone()));
    let session = session(SessionOptions::new(opener).partitions(1)).unwrap();
    let sql = "SELECT a FROM 'the array'";
    assert_eq!(rows(&session, sql).await.unwrap(), ["2"]);
    gives.store(false, Ordering::Relaxed);
    let error = rows(&session, sql).await.unwrap_err().to_string();
    assert!(error.contains("key"), "{error}");
    gives.store(true, Ordering::Relaxed);
    assert_eq!(rows(&session, sql).await.unwrap(), ["2"]);
}

/// More arrays than the session keeps.
#[tokio::test(flavor = "multi_thread")]
async fn evicted_arrays_open_again() {
    let folder = tempfile::tempdir().unwrap();
    let (session, _) = counted();
    for round in 0..2 {
        for number in 0..40i64 {
            let path = folder.path().join(number.to_string());
            if round == 0 {
                create(&path, Attribute::new("a", Datatype::Int64));
                write(&path, &[1], &[number]);
            }
            let sql = format!("SELECT max(a) FROM '{}'", path.display());
            assert_eq!(rows(&session, &sql).await.unwrap(), [number.to_string()]);
        }
    }
}

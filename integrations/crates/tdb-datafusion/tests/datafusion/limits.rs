//! Bytes read by queries with LIMIT.

use std::path::Path;
use std::sync::Arc;

use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::tdb_array::tdb_condition::field;
use tdb_datafusion::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_datafusion::tdb_array::{Array, CreateOptions, WriteBatch, WriteColumn, WriteIds};
use tdb_datafusion::tdb_storage::{CountingStorage, LocalStorage};
use tdb_datafusion::{Opener, SessionOptions, session};

use crate::support::rows;

/// Number of rows, in tiles of a thousand.
const ROWS: i64 = 200_000;

/// Creates an array of one fragment without filters. `x` is the row number.
fn make(path: &Path) {
    let x = Dimension::new("x", 0i64..=1 << 40);
    let schema = SchemaBuilder::sparse()
        .dimension(x.with_tile(1i64 << 20))
        .capacity(1000)
        .attribute(Attribute::new("value", Datatype::Float64))
        .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var));
    CreateOptions::new().ids(WriteIds::new().at(1000)).create(path, schema.build().unwrap()).unwrap();
    let x: Vec<i64> = (0..ROWS).collect();
    let value: Vec<f64> = x.iter().map(|x| (x * 7919 % ROWS) as f64).collect();
    let name = WriteColumn::strings(x.iter().map(|x| format!("name number {x}")));
    let cells = WriteBatch::new().with("x", &x).with("value", &value).with("name", name);
    Array::open(path).unwrap().write().ids(WriteIds::new().at(1010)).cells(cells).unwrap();
}

/// Creates a session that counts bytes read. The array is the table `t`.
async fn counted(path: &Path) -> (SessionContext, Arc<CountingStorage>) {
    let storage = Arc::new(CountingStorage::new(Arc::new(LocalStorage::new(path))));
    let opened = storage.clone();
    let session = session(SessionOptions::new(Opener::new(move |_| Ok(opened.clone()))).partitions(1)).unwrap();
    let create = format!("CREATE EXTERNAL TABLE t STORED AS TILEDB LOCATION '{}'", path.display());
    rows(&session, &create).await.unwrap();
    (session, storage)
}

/// Returns the rows of a query, and the number of bytes read.
async fn read(session: &SessionContext, storage: &CountingStorage, sql: &str) -> (Vec<String>, u64) {
    let before = storage.counters().bytes;
    let rows = rows(session, sql).await.unwrap();
    (rows, storage.counters().bytes - before)
}

#[tokio::test(flavor = "multi_thread")]
async fn first_rows_read_only_the_first_tile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    make(&path);
    let (session, storage) = counted(&path).await;
    let (found, all) = read(&session, &storage, "SELECT count(value), count(name) FROM t WHERE value >= 0").await;
    assert_eq!(found, [format!("{ROWS} | {ROWS}")]);

    let first = ["0 | 0.0 | name number 0", "1 | 7919.0 | name number 1", "2 | 15838.0 | name number 2"];
    for sql in ["SELECT x, value, name FROM t ORDER BY x LIMIT 3", "SELECT x, value, name FROM t LIMIT 3"] {
        let (found, bytes) = read(&session, &storage, sql).await;
        assert_eq!(found, first, "{sql}");
        assert!(bytes < all / 10, "{sql}: {bytes} of {all}");
    }
    let (found, _) = read(&session, &storage, "SELECT x FROM t WHERE value < 1000 ORDER BY x LIMIT 2").await;
    assert_eq!(found, ["0", "581"]);
}

/// More rows than the tiles read first contain.
#[tokio::test(flavor = "multi_thread")]
async fn top_k_beyond_the_first_tiles_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    make(&path);
    let (session, _) = counted(&path).await;
    for (direction, first) in [("ASC", 0), ("DESC", ROWS - 5000)] {
        let sql = format!("SELECT value FROM t ORDER BY value {direction} LIMIT 5000");
        let mut found: Vec<f64> =
            rows(&session, &sql).await.unwrap().iter().map(|value| value.parse().unwrap()).collect();
        found.sort_by(f64::total_cmp);
        assert!(found.iter().copied().eq((first..first + 5000).map(|value| value as f64)), "{direction}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_zero_all_and_more_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    make(&path);
    // Deletes the first rows, and replaces others.
    Array::open(&path).unwrap().delete_cells(&field("x").lt(150_000i64), &WriteIds::new().at(1020)).unwrap();
    let (x, value) = ([160_000i64, 10], [-1.0f64, -2.0]);
    let name = WriteColumn::strings(["new", "back again"]);
    let cells = WriteBatch::new().with("x", &x).with("value", &value).with("name", name);
    Array::open(&path).unwrap().write().ids(WriteIds::new().at(1030)).cells(cells).unwrap();
    let (session, storage) = counted(&path).await;
    let left = 50_001;
    for (limit, expected) in [(0, 0), (1, 1), (4096, 4096), (left, left), (left + 1, left), (10 * left, left)] {
        let sql = format!("SELECT x, value FROM t ORDER BY x LIMIT {limit}");
        let (found, _) = read(&session, &storage, &sql).await;
        assert_eq!(found.len(), expected, "{limit}");
        let places = found.iter().map(|row| row.split(' ').next().unwrap().parse::<i64>().unwrap());
        let all = std::iter::once(10).chain(150_000..ROWS);
        assert!(places.eq(all.take(expected)), "{limit}");
        let (unordered, _) = read(&session, &storage, &format!("SELECT name FROM t LIMIT {limit}")).await;
        assert_eq!(unordered.len(), expected, "{limit}");
    }
    let (last, _) = read(&session, &storage, "SELECT x FROM t ORDER BY x DESC LIMIT 2").await;
    assert_eq!(last, [(ROWS - 1).to_string(), (ROWS - 2).to_string()]);
    let (new, _) = read(&session, &storage, "SELECT name FROM t ORDER BY x LIMIT 1 OFFSET 10001").await;
    assert_eq!(new, ["new"]);
}

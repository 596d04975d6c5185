//! Concurrent queries of one session, which share its memory.

use std::path::Path;

use futures_util::StreamExt;
use tdb_datafusion::tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::{CellValNum, Datatype};
use tdb_datafusion::tdb_array::{Array, CreateOptions, WriteBatch, WriteColumn};
use tdb_datafusion::{Opener, SessionOptions, session};
use tokio::task::JoinSet;

use crate::support::rows;

const ROWS: i64 = 100_000;
const CLIENTS: usize = 16;

/// Creates an array in four fragments that interleave. `x` is the row number.
fn make(path: &Path) {
    let x = Dimension::new("x", 0i64..=1 << 40);
    let schema = SchemaBuilder::sparse()
        .dimension(x.with_tile(1i64 << 20))
        .capacity(10_000)
        .attribute(Attribute::new("value", Datatype::Float64))
        .attribute(Attribute::new("name", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var));
    CreateOptions::new().create(path, schema.build().unwrap()).unwrap();
    for fragment in 0..4 {
        let x: Vec<i64> = (0..ROWS / 4).map(|row| 4 * row + fragment).collect();
        let value: Vec<f64> = x.iter().map(|x| (x * 7919 % ROWS) as f64).collect();
        let name = WriteColumn::strings(x.iter().map(|x| format!("name number {}", x % 1000)));
        let cells = WriteBatch::new().with("x", &x).with("value", &value).with("name", name);
        Array::open(path).unwrap().write().cells(cells).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_clients_share_memory_for_one_query() {
    sixteen_clients_share(48 << 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_clients_share_memory_for_eight_queries() {
    sixteen_clients_share(512 << 20).await;
}

/// Runs queries of sixteen clients, whose sorts need more memory than an equal share.
async fn sixteen_clients_share(memory: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    make(&path);
    let session = session(SessionOptions::new(Opener::local()).memory(memory).partitions(4)).unwrap();
    rows(&session, &format!("CREATE EXTERNAL TABLE t STORED AS TILEDB LOCATION '{}'", path.display())).await.unwrap();
    let queries = [
        "SELECT count(*), sum(value) FROM t WHERE x % 3 = 1",
        "SELECT name, count(*), min(value) FROM t GROUP BY name ORDER BY name",
        "SELECT x, value, name FROM t ORDER BY value, x LIMIT 20 OFFSET 75000",
        "SELECT x, value FROM t WHERE value BETWEEN 1000 AND 1100 ORDER BY x",
        "SELECT x, name FROM t ORDER BY name, value DESC OFFSET 99990",
    ];
    let mut expected = Vec::new();
    for sql in queries {
        expected.push(rows(&session, sql).await.unwrap());
    }
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let (session, expected) = (session.clone(), expected.clone());
        clients.spawn(async move {
            for turn in 0..queries.len() {
                let number = (client + turn) % queries.len();
                let found = rows(&session, queries[number]).await;
                let found = found.unwrap_or_else(|error| panic!("client {client}, {}: {error}", queries[number]));
                assert!(found == expected[number], "client {client}, {}", queries[number]);
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    assert_eq!(session.runtime_env().memory_pool.reserved(), 0);
}

/// One program may read two results in turns.
#[tokio::test(flavor = "multi_thread")]
async fn readers_that_pause_do_not_block_other_queries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    make(&path);
    // Enough memory for one query at a time.
    let session = session(SessionOptions::new(Opener::local()).memory(16 << 20).partitions(1)).unwrap();
    let all = format!("SELECT x FROM '{}'", path.display());
    let mut paused = session.sql(&all).await.unwrap().execute_stream().await.unwrap();
    let first = paused.next().await.unwrap().unwrap().num_rows();
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM ({all})")).await.unwrap(), [ROWS.to_string()]);
    let rest: usize = paused.map(|batch| batch.unwrap().num_rows()).collect::<Vec<_>>().await.iter().sum();
    assert_eq!(first + rest, ROWS as usize);
}

//! Inserts into dense arrays with more rows than fit in memory.

use std::path::Path;

use tdb_datafusion::datafusion::error::DataFusionError;
use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::tdb_array::Array;
use tdb_datafusion::{Opener, SessionOptions, session};

use crate::support::{is_empty, rows};

/// 300 000 shuffled rows of about 40 bytes each. Rows of the array have 1000 cells.
const SHUFFLED: &str = "SELECT v / 1000 AS y, v % 1000 AS x, v AS a, CASE WHEN v % 3 > 0 THEN 's' || v END AS s \
    FROM (SELECT value * 7919 % 300000 AS v FROM generate_series(0, 299999))";

/// Less memory than the rows take.
const MEMORY: usize = 8 << 20;

/// Creates a table with tiles of `tile` rows.
async fn grid(path: &Path, tile: u32) -> SessionContext {
    let session = session(SessionOptions::new(Opener::local()).partitions(1).memory(MEMORY)).unwrap();
    let create = format!(
        "CREATE EXTERNAL TABLE grid (y BIGINT NOT NULL, x BIGINT NOT NULL, a BIGINT NOT NULL, s VARCHAR) STORED AS TILEDB LOCATION '{}' \
         OPTIONS ('array' 'dense', 'dimensions' 'y,x', 'domain.y' '0..=9999', 'tile.y' '{tile}', 'domain.x' '0..=9999', 'tile.x' '100')",
        path.display()
    );
    rows(&session, &create).await.unwrap();
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn bands_are_sorted_and_appear_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid");
    let session = grid(&path, 10).await;
    assert_eq!(rows(&session, &format!("INSERT INTO grid {SHUFFLED}")).await.unwrap(), ["300000"]);
    let array = Array::open(&path).unwrap();
    let fragments = array.fragments().unwrap();
    assert!(fragments.len() > 1);
    let times: Vec<u64> = fragments.iter().map(|fragment| fragment.name().start()).collect();
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
    let whole = "SELECT count(*), sum(a), sum(CASE WHEN a <> y * 1000 + x THEN 1 ELSE 0 END), count(s) FROM grid";
    assert_eq!(rows(&session, whole).await.unwrap(), ["300000 | 44999850000 | 0 | 200000"]);
    let one = "SELECT a, s FROM grid WHERE y = 299 AND x = 998";
    assert_eq!(rows(&session, one).await.unwrap(), ["299998 | s299998"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn band_beyond_memory_fails_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid");
    let session = grid(&path, 1000).await;
    let error = rows(&session, &format!("INSERT INTO grid {SHUFFLED}")).await.unwrap_err();
    assert!(matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)), "{error}");
    assert!(error.to_string().contains("must fit in memory"), "{error}");
    is_empty(&path);
}

/// A missing row is detected at the end, after bands were written.
#[tokio::test(flavor = "multi_thread")]
async fn missing_row_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grid");
    let session = grid(&path, 10).await;
    let insert = format!("INSERT INTO grid SELECT * FROM ({SHUFFLED}) WHERE a <> 299999");
    let error = rows(&session, &insert).await.unwrap_err().to_string();
    assert!(error.contains("y 299, x 998 is the last cell, but further cells are missing"), "{error}");
    is_empty(&path);
}

//! Errors of unsupported statements.

use tdb_datafusion::datafusion::error::DataFusionError;
use tdb_datafusion::tdb_array::tdb_schema::{Attribute, SchemaEvolution};
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, WriteIds};
use tdb_datafusion::{Opener, SessionOptions, TableOptions, session};

use crate::support::{create, local, rows, sparse};

#[tokio::test(flavor = "multi_thread")]
async fn too_small_memory_pool_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse(&path, 1, true);
    let asked = |memory: usize| {
        let session = session(SessionOptions::new(Opener::local()).memory(memory)).unwrap();
        let sql = format!("SELECT count(DISTINCT s) FROM '{}'", path.display());
        async move { rows(&session, &sql).await }
    };
    let error = asked(1 << 10).await.unwrap_err();
    assert!(matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)), "{error}");
    assert!(error.to_string().contains("scan of"), "{error}");
    // A smaller reservation is enough here.
    assert_eq!(asked(64 << 20).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_name_missing_tables() {
    let session = local(1);
    for (sql, wanted) in [
        ("SELECT * FROM 'no/such/array'", "not found"),
        ("SELECT * FROM 'wrong://bucket/array'", "not found"),
        ("SELECT * FROM tdb_schema('wrong://bucket/array')", "supports local folders only"),
        ("SELECT * FROM tdb_schema('a', 'never')", "is not a valid time"),
    ] {
        let error = rows(&session, sql).await.unwrap_err().to_string();
        assert!(error.contains(wanted), "{sql}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_needs_a_session_of_this_crate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse(&path, 2, true);
    let table =
        tdb_datafusion::TdbTable::open(path.to_str().unwrap(), &Opener::local(), TableOptions::new()).await.unwrap();
    let plain = tdb_datafusion::datafusion::prelude::SessionContext::new();
    plain.register_table("t", table).unwrap();
    let before = rows(&plain, "SELECT count(*) FROM t").await.unwrap();
    let error = rows(&plain, "DELETE FROM t WHERE u IN (SELECT u FROM t WHERE u > 250)").await.unwrap_err();
    assert!(error.to_string().contains("needs a session of tdb-datafusion"), "{error}");
    assert_eq!(rows(&plain, "SELECT count(*) FROM t").await.unwrap(), before);
}

/// By the format, a DELETE that compares a column also deletes cells of fragments written before
/// the column existed.
#[tokio::test(flavor = "multi_thread")]
async fn delete_by_a_later_column_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let session = local(1);
    create(&session, &path, "x INT NOT NULL", "").await;
    rows(&session, "INSERT INTO t VALUES (1), (2)").await.unwrap();
    let late = SchemaEvolution::new().add_attribute(Attribute::new("late", Datatype::Int16));
    Array::open(&path).unwrap().evolve(&late, &WriteIds::new()).unwrap();
    // The session continues with the new schema.
    rows(&session, "INSERT INTO t VALUES (3, 7), (4, 8)").await.unwrap();
    let error = rows(&session, "DELETE FROM t WHERE late = 7").await.unwrap_err().to_string();
    assert!(error.contains("was written before the column was added"), "{error}");
    let all = "SELECT x FROM t ORDER BY x";
    assert_eq!(rows(&session, all).await.unwrap(), ["1", "2", "3", "4"]);
    rows(&session, "DELETE FROM t WHERE x = 3").await.unwrap();
    assert_eq!(rows(&session, all).await.unwrap(), ["1", "2", "4"]);
}

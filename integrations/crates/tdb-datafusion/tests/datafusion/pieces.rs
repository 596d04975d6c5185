//! Serialized scans.

use std::sync::Arc;

use tdb_datafusion::datafusion::datasource::source::DataSourceExec;
use tdb_datafusion::datafusion::physical_plan::{ExecutionPlan, collect};
use tdb_datafusion::{Opener, ScanPieces, TableOptions};

use crate::support::{local_with, rows, scans, sorted, sparse, text};

#[tokio::test(flavor = "multi_thread")]
async fn serialized_scan_returns_rows_of_the_same_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse(&path, 3, true);
    let session = local_with(TableOptions::new().partitions(3));
    let sql = format!("SELECT x, name, s, e FROM '{}' WHERE u > 40 AND x < 20", path.display());
    let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
    let found = scans(&plan);
    let [scan] = &found[..] else { panic!("{found:?}") };
    let pieces = scan.pieces().unwrap();
    let bytes = pieces.to_bytes();
    assert_eq!(ScanPieces::from_bytes(&bytes).unwrap(), pieces);
    let before = sorted(rows(&session, &sql).await.unwrap());
    assert!(before.len() > 3);
    // Later changes do not affect the serialized scan.
    rows(&session, &format!("DELETE FROM '{}' WHERE u >= 0", path.display())).await.unwrap();
    assert!(rows(&session, &sql).await.unwrap().is_empty());
    let again = ScanPieces::from_bytes(&bytes).unwrap().scan(&Opener::local()).unwrap();
    let again: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(again);
    assert_eq!(sorted(text(&collect(again, session.task_ctx()).await.unwrap())), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_bytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse(&path, 5, false);
    let session = local_with(TableOptions::new().partitions(2));
    let sql = format!("SELECT x FROM '{}' WHERE u > 40", path.display());
    let plan = session.sql(&sql).await.unwrap().create_physical_plan().await.unwrap();
    let found = scans(&plan);
    let bytes = found[0].pieces().unwrap().to_bytes();
    for end in 0..bytes.len() {
        assert!(ScanPieces::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    let mut other = bytes.clone();
    other[0] += 1;
    let error = ScanPieces::from_bytes(&other).unwrap_err().to_string();
    assert!(error.contains("version"), "{error}");
    assert!(ScanPieces::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
}

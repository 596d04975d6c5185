//! Pushdown to the scan, as shown in plans.

use std::path::Path;

use tdb_datafusion::TableOptions;
use tdb_datafusion::datafusion::common::stats::Precision;
use tdb_datafusion::datafusion::datasource::source::DataSource;
use tdb_datafusion::datafusion::prelude::SessionContext;

use crate::support::{create, local_with, rows, scans};

/// Creates an array of 10 000 cells, in fragments and tiles of 100 cells. The attribute `a` ascends
/// with `x`.
async fn filled(path: &Path, partitions: usize) -> SessionContext {
    let session = local_with(TableOptions::new().partitions(partitions));
    let columns = "x BIGINT NOT NULL, a INT NOT NULL, s VARCHAR, f DOUBLE NOT NULL";
    create(&session, path, columns, ", 'domain.x' '0..=1000000', 'tile.x' '100', 'capacity' '100'").await;
    for part in 0..2 {
        let (first, last) = (part * 5000, part * 5000 + 4999);
        let insert = format!(
            "INSERT INTO t SELECT value, value * 2, 's' || value, value + 0.5 AS f FROM generate_series({first}, {last})"
        );
        rows(&session, &insert).await.unwrap();
    }
    session
}

async fn plan(session: &SessionContext, sql: &str) -> String {
    rows(session, &format!("EXPLAIN FORMAT INDENT {sql}")).await.unwrap().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_and_conditions_are_pushed_down_completely() {
    let folder = tempfile::tempdir().unwrap();
    let session = filled(&folder.path().join("t"), 2).await;
    let exact = plan(&session, "SELECT s FROM t WHERE x BETWEEN 100 AND 250 AND a <> 220").await;
    assert!(!exact.contains("FilterExec"), "{exact}");
    assert!(exact.contains("x in [100, 250]"), "{exact}");
    assert!(exact.contains("condition=[a != 220]"), "{exact}");
    assert!(exact.contains("fragments_outside_ranges=1"), "{exact}");
    assert!(exact.contains("tiles_outside_ranges=48"), "{exact}");
    assert!(exact.contains("tiles_read=2"), "{exact}");
    let statistics = plan(&session, "SELECT s FROM t WHERE a > 19990").await;
    assert!(statistics.contains("tiles_pruned_by_statistics=49"), "{statistics}");
    assert!(statistics.contains("fragments_pruned_by_totals=1"), "{statistics}");
    let limit = plan(&session, "SELECT s FROM t WHERE a > 5 LIMIT 3").await;
    assert!(limit.contains("fetch=3"), "{limit}");
    let looked_at = plan(&session, "SELECT s FROM t WHERE a + 1 > 5 AND x < 50").await;
    assert!(looked_at.contains("FilterExec") && looked_at.contains("x in ["), "{looked_at}");
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_and_extremes_come_from_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let session = filled(&folder.path().join("t"), 2).await;
    for each in ["count(*)", "count(a)", "min(a)", "max(a)", "min(f)", "sum(a)"] {
        let of_statistics = plan(&session, &format!("SELECT {each} FROM t")).await;
        assert!(of_statistics.contains("PlaceholderRowExec"), "{of_statistics}");
    }
    let sql = "SELECT count(*), count(a), min(a), max(a), min(f), sum(a) FROM t";
    let statistics = plan(&session, sql).await;
    let physical = statistics.split("physical_plan").nth(1).unwrap();
    assert!(physical.contains("PlaceholderRowExec") && !physical.contains("DataSourceExec"), "{statistics}");
    assert_eq!(rows(&session, sql).await.unwrap(), ["10000 | 10000 | 0 | 19998 | 0.5 | 99990000"]);
    // Statistics do not apply with a condition.
    assert_eq!(rows(&session, "SELECT count(*), max(a) FROM t WHERE a < 11").await.unwrap(), ["6 | 10"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM (SELECT * FROM t LIMIT 7)").await.unwrap(), ["7"]);
}

/// Statistics cover all partitions together. Single partitions have no statistics, except an only
/// partition.
#[tokio::test(flavor = "multi_thread")]
async fn statistics_are_of_all_partitions_together() {
    for partitions in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let session = filled(&folder.path().join("t"), partitions).await;
        let planned = session.sql("SELECT x, a FROM t").await.unwrap().create_physical_plan().await.unwrap();
        let scan = scans(&planned).pop().unwrap();
        let rows = |partition| scan.partition_statistics(partition).unwrap().num_rows;
        assert_eq!(rows(None), Precision::Exact(10_000));
        for partition in 0..partitions {
            assert_eq!(rows(Some(partition)) == Precision::Exact(10_000), partitions == 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn order_by_leading_dimensions_needs_no_sort() {
    let folder = tempfile::tempdir().unwrap();
    let session = filled(&folder.path().join("t"), 3).await;
    let sorted = plan(&session, "SELECT x, a FROM t ORDER BY x").await;
    assert!(!sorted.contains("SortExec") && sorted.contains("SortPreservingMergeExec"), "{sorted}");
    let found = rows(&session, "SELECT x FROM t ORDER BY x").await.unwrap();
    assert!(found.iter().map(|x| x.parse::<i64>().unwrap()).eq(0..10_000));
    let reversed = plan(&session, "SELECT x FROM t ORDER BY x DESC").await;
    assert!(reversed.contains("SortExec"), "{reversed}");
    let found = rows(&session, "SELECT x FROM t ORDER BY x DESC LIMIT 2").await.unwrap();
    assert_eq!(found, ["9999", "9998"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn dynamic_filters_reach_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let session = filled(&folder.path().join("t"), 2).await;
    let sql = "SELECT t.s FROM t JOIN (VALUES (300), (301)) AS w(x) ON t.x = w.x ORDER BY 1";
    assert_eq!(rows(&session, sql).await.unwrap(), ["s300", "s301"]);
    let analyzed = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await.unwrap().join("\n");
    assert!(analyzed.contains("narrowing=["), "{analyzed}");
    assert!(pruned(&analyzed) > 80, "{analyzed}");
    let sql = "SELECT a FROM t ORDER BY a DESC LIMIT 3";
    assert_eq!(rows(&session, sql).await.unwrap(), ["19998", "19996", "19994"]);
    let analyzed = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).await.unwrap().join("\n");
    assert!(analyzed.contains("narrowing=["), "{analyzed}");
}

/// Returns the number of tiles pruned while the query ran.
fn pruned(analyzed: &str) -> usize {
    let found = analyzed.split("tiles_pruned_by_dynamic_filters=").nth(1).unwrap_or_else(|| panic!("{analyzed}"));
    let number: String = found.chars().take_while(char::is_ascii_digit).collect();
    number.parse().unwrap()
}

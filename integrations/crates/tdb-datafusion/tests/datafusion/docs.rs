//! Runs the statements in `docs/guides/sql.md`.

use tdb_datafusion::tdb_array::tdb_schema::{ArrayDefinition, Attribute, Dimension, SchemaBuilder};
use tdb_datafusion::tdb_array::tdb_types::Datatype;
use tdb_datafusion::tdb_array::{Array, CreateOptions, WriteBatch, WriteIds};

use crate::support::{local, rows};

/// Extracts the statements of all SQL blocks, without comments.
fn statements(page: &str) -> Vec<String> {
    let blocks = page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" -- ").next().unwrap());
    let text = lines.collect::<Vec<_>>().join("\n");
    text.split(';').map(str::trim).filter(|statement| !statement.is_empty()).map(str::to_owned).collect()
}

/// Creates the array that the page assumes, with two timestamps.
fn cells(path: &std::path::Path) {
    let x = Dimension::new("x", 0i32..=99);
    let schema = SchemaBuilder::sparse().dimension(x).attribute(Attribute::new("a", Datatype::Int32)).build().unwrap();
    // 2024-04-01 and 2024-06-01.
    let (before, after) = (1_711_929_600_000, 1_717_200_000_000);
    let definition = ArrayDefinition::new(schema).unwrap();
    CreateOptions::new().ids(WriteIds::new().at(before)).create(path, &definition).unwrap();
    for (time, x) in [(before, [1, 2]), (after, [3, 4])] {
        let write = Array::open(path).unwrap().write().ids(WriteIds::new().at(time));
        write.cells(WriteBatch::new().with("x", &x).with("a", &x)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_statements_of_the_page_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    cells(&folder.path().join("cells.tdb"));
    let session = local(2);
    let calls = format!(
        "COPY (SELECT 'chr1' AS chrom, arrow_cast(20000, 'Int32') AS pos, CAST(31 AS REAL) AS qual UNION ALL \
         SELECT 'chrM', arrow_cast(7, 'Int32'), CAST(3 AS REAL)) TO '{dir}/calls.parquet'"
    );
    rows(&session, &calls).await.unwrap();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/guides/sql.md")).unwrap();
    let all = statements(&page);
    assert!(all.len() >= 8, "{all:?}");
    let mut found = Vec::new();
    for statement in &all {
        let mut placed = statement.clone();
        for name in ["variants.tdb", "cells.tdb", "calls.parquet", "positions.tdb"] {
            placed = placed.replace(&format!("'{name}"), &format!("'{dir}/{name}"));
        }
        let lines = rows(&session, &placed).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        found.push((statement.as_str(), lines));
    }
    let of = |begin: &str| {
        let one = found.iter().find(|(statement, _)| statement.starts_with(begin));
        &one.unwrap_or_else(|| panic!("no {begin}")).1
    };
    assert_eq!(of("SELECT chrom, count(*)"), &["chr1 | 1 | 31.0"]);
    // Two partitions emit rows in any order.
    let mut rows_before = of("SELECT * FROM 'cells.tdb@").clone();
    rows_before.sort();
    assert_eq!(rows_before, ["1 | 1", "2 | 2"]);
    assert_eq!(of("DELETE"), &["1"]);
    assert_eq!(rows(&session, &format!("SELECT pos FROM '{dir}/positions.tdb'")).await.unwrap(), ["20000"]);
}

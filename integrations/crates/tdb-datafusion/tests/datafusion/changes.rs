//! Concurrent changes of arrays, and atomicity of statements.

use tdb_datafusion::tdb_array::{Array, Group};
use tdb_datafusion::{Opener, TableOptions, TdbCatalog};
use tdb_maintain::{ConsolidateFragments, Vacuum};

use crate::support::{copy, create, is_empty, local, local_with, rows, sparse, text};

#[tokio::test(flavor = "multi_thread")]
async fn query_reads_one_snapshot_and_the_next_query_reads_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let session = local(2);
    create(&session, &path, "x INT NOT NULL", "").await;
    rows(&session, "INSERT INTO t SELECT value FROM generate_series(1, 10)").await.unwrap();
    let planned = session.sql("SELECT x FROM t").await.unwrap();
    rows(&session, "INSERT INTO t VALUES (11)").await.unwrap();
    assert_eq!(planned.count().await.unwrap(), 10);
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await.unwrap(), ["11"]);
    // An array can be inserted into itself.
    rows(&session, "INSERT INTO t SELECT x + 100 FROM t").await.unwrap();
    assert_eq!(rows(&session, "SELECT count(*) FROM t").await.unwrap(), ["22"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statement_with_an_array_twice_reads_one_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().join("t").to_str().unwrap().to_owned();
    sparse(folder.path().join("t").as_path(), 4, true);
    let session = local(2);
    let before: usize = rows(&session, &format!("SELECT count(*) FROM '{uri}'")).await.unwrap()[0].parse().unwrap();
    let sql = format!(
        "SELECT (SELECT count(*) FROM '{uri}') AS a, count(*) AS b, (SELECT count(*) FROM '{uri}' WHERE x < 0) AS c FROM '{uri}' AS again"
    );
    let planned = session.sql(&sql).await.unwrap();
    rows(&session, &format!("DELETE FROM '{uri}' WHERE u >= 0")).await.unwrap();
    let found = text(&planned.collect().await.unwrap());
    assert!(found[0].starts_with(&format!("{before} | {before} | ")), "{found:?}");
    assert!(!found[0].ends_with(" | 0"), "{found:?}");
    assert!(rows(&session, &sql).await.unwrap()[0].starts_with("0 | 0 | 0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_consolidation_is_readable_and_vacuum_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let uri = path.to_str().unwrap().to_owned();
    let session = local(2);
    create(&session, &path, "x INT NOT NULL, a INT NOT NULL", "").await;
    for first in [1, 11, 21] {
        let insert = format!("INSERT INTO t SELECT value, value AS a FROM generate_series({first}, {first} + 9)");
        rows(&session, &insert).await.unwrap();
    }
    let sum = "SELECT sum(a) FROM t WHERE a % 2 = 0";
    let wanted = rows(&session, sum).await.unwrap();
    let (consolidated, vacuumed) = (session.sql(sum).await.unwrap(), session.sql(sum).await.unwrap());
    ConsolidateFragments::new().plan(&Array::open(&path).unwrap()).unwrap().run().unwrap();
    assert_eq!(text(&consolidated.collect().await.unwrap()), wanted);
    assert!(Vacuum::fragments().plan(&Array::open(&path).unwrap()).unwrap().run().unwrap().steps.len() >= 3);
    // Either all rows, or an error with the URI of the array.
    match vacuumed.collect().await {
        // The files were still open.
        Ok(found) => assert_eq!(text(&found), wanted),
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains(&uri) && error.contains("__fragments"), "{error}");
        }
    }
    assert_eq!(rows(&session, sum).await.unwrap(), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_insert_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let session = local(1);
    create(&session, &path, "x INT NOT NULL, a INT NOT NULL", ", 'domain.x' '0..=99'").await;
    let outside = rows(&session, "INSERT INTO t SELECT value, 1 FROM generate_series(0, 100)").await.unwrap_err();
    assert!(outside.to_string().contains("domain"), "{outside}");
    let division = rows(&session, "INSERT INTO t SELECT value, 1 / (50 - value) FROM generate_series(0, 99)").await;
    assert!(division.is_err());
    is_empty(&path);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_copy_leaves_no_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let session = local(1);
    // An error in the first rows, and in later ones.
    for failing in [5, 90_000] {
        let select = format!("SELECT value AS x, 1 / ({failing} - value) AS a FROM generate_series(0, 99999)");
        assert!(rows(&session, &copy(&select, path.display())).await.is_err());
        let left = std::fs::read_dir(&path).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{failing}");
    }
    // The failed copies do not block the next. A failed copy does not remove an existing array.
    let (one, failing) = (copy("SELECT 1 AS x", path.display()), copy("SELECT 1 / 0 AS x", path.display()));
    rows(&session, &one).await.unwrap();
    assert!(rows(&session, &one).await.is_err() && rows(&session, &failing).await.is_err());
    assert_eq!(rows(&session, &format!("SELECT x FROM '{}'", path.display())).await.unwrap(), ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_catalogs() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/v22-by-2.30.0-group/group");
    let session = local(1);
    let catalog = TdbCatalog::group(fixture, &Opener::local(), TableOptions::new()).await.unwrap();
    session.register_catalog("g", catalog);
    let tables = rows(
        &session,
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'g' AND table_schema <> 'information_schema'",
    );
    let tables = tables.await.unwrap();
    assert!(!tables.is_empty());
    let mut read = 0;
    for table in &tables {
        let (schema, name) = table.split_once(" | ").unwrap();
        let sql = format!("SELECT count(*) FROM g.\"{schema}\".\"{name}\"");
        read += usize::from(rows(&session, &sql).await.is_ok());
    }
    assert!(read > 0, "{tables:?}");
    let error = rows(&session, &format!("SELECT * FROM '{fixture}'")).await.unwrap_err().to_string();
    assert!(error.contains("is a group, not a table"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn table_by_path_is_the_folder_with_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let group = folder.path().join("group%20a");
    std::fs::create_dir(&group).unwrap();
    let uri = group.to_str().unwrap().to_owned();
    Group::create(&uri).unwrap();
    let session = local(1);
    let names = ["my key", "my%20key", "50%", "%2B", "x", "x#y", "x?y", "a%+fb", "é", "%C3%A9"];
    for (number, name) in names.iter().enumerate() {
        let select = format!("SELECT 1 AS x, {number} AS a");
        rows(&session, &copy(&select, format!("file://{uri}/{name}"))).await.unwrap();
        assert!(group.join(name).is_dir(), "{name}");
        let opened = Group::open(&uri).unwrap();
        opened.change().add(*name, true, None).commit().unwrap();
    }
    let (place, opener) = (format!("file://{uri}"), Opener::local());
    let catalog = TdbCatalog::group(&place, &opener, TableOptions::new()).await.unwrap();
    session.register_catalog("g", catalog);
    for (number, name) in names.iter().enumerate() {
        for table in [format!("g.public.\"{name}\""), format!("'{uri}/{name}'"), format!("'file://{uri}/{name}'")] {
            let found = rows(&session, &format!("SELECT a FROM {table}")).await.unwrap();
            assert_eq!(found, [number.to_string()], "{table}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_tables_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("g/Größe v1.x"), folder.path().join("g/gone"));
    let session = local(1);
    std::fs::create_dir(folder.path().join("g")).unwrap();
    let uri = folder.path().join("g").to_str().unwrap().to_owned();
    Group::create(&uri).unwrap();
    for path in [&here, &there] {
        rows(&session, &copy("SELECT 1 AS x, 2 AS a", path.display())).await.unwrap();
    }
    let group = Group::open(&uri).unwrap();
    group.change().add("Größe v1.x", true, None).add("gone", true, None).commit().unwrap();
    let catalog = TdbCatalog::group(&uri, &Opener::local(), TableOptions::new()).await.unwrap();
    session.register_catalog("g", catalog);
    std::fs::remove_dir_all(&there).unwrap();
    let names = "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'g' AND table_schema = 'public' ORDER BY 1";
    assert_eq!(rows(&session, names).await.unwrap(), ["Größe v1.x", "gone"]);
    assert_eq!(rows(&session, "SELECT a FROM g.public.\"Größe v1.x\"").await.unwrap(), ["2"]);
    let error = rows(&session, "SELECT * FROM g.public.gone").await.unwrap_err().to_string();
    assert!(error.contains("gone"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_at_a_time_do_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    sparse(&path, 8, true);
    let session = local_with(TableOptions::new());
    let first = rows(&session, &format!("SELECT count(*) FROM '{}@1010ms'", path.display())).await.unwrap();
    let none = rows(&session, &format!("SELECT count(*) FROM '{}@1009ms'", path.display())).await;
    // Before the first schema, the array does not exist or is empty.
    assert!(none.is_err() || none.unwrap() == ["0"]);
    assert_ne!(first, ["0"]);
}

//! Names of files in other formats are literal.

use std::fs;
use std::path::Path;

use tdb_datafusion::datafusion::prelude::SessionContext;

use crate::support::{local, rows};

/// Names with every printable character, and pairs of names, confused by patterns or
/// percent-decoding in plain DataFusion.
fn names() -> Vec<String> {
    let each = (' '..='~').filter(|character| *character != '/').map(|character| format!("a{character}b"));
    let more =
        ["a%20b", "a%2Fb", "a%", "%41", "[a]b", "{a,b}", "a**b", "?", "#1", "a b#c?d", "é%C3%A9", "file:", "x:y"];
    let names = each.chain(more.map(str::to_owned));
    // The extension determines the format.
    names.map(|name| format!("{name}.csv")).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

async fn one(session: &SessionContext, sql: &str) -> String {
    rows(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}")).join(" ")
}

/// Returns the two ways to write a path.
fn ways(folder: &Path, name: &str) -> [String; 2] {
    let path = format!("{}/{name}", folder.display());
    [quoted(&path), quoted(&format!("file://{path}"))]
}

#[tokio::test(flavor = "multi_thread")]
async fn file_names_are_literal() {
    let folder = tempfile::tempdir().unwrap();
    let names = names();
    for (number, name) in names.iter().enumerate() {
        fs::write(folder.path().join(name), format!("v\n{number}\n")).unwrap();
    }
    let session = local(1);
    for (number, name) in names.iter().enumerate() {
        for (way, path) in ways(folder.path(), name).iter().enumerate() {
            assert_eq!(one(&session, &format!("SELECT v FROM {path}")).await, number.to_string(), "{path}");
            let create = format!("CREATE EXTERNAL TABLE t{number}_{way} STORED AS CSV LOCATION {path}");
            one(&session, &create).await;
            assert_eq!(one(&session, &format!("SELECT v FROM t{number}_{way}")).await, number.to_string(), "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_writes_to_the_literal_name() {
    for (number, name) in names().iter().enumerate() {
        for way in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            // Files that a pattern or a decoded name would match.
            let others = ["ab.csv", "a b.csv", "axb.csv", "A.csv"];
            others.iter().for_each(|other| fs::write(folder.path().join(other), "other\n").unwrap());
            let path = &ways(folder.path(), name)[way];
            one(&local(1), &format!("COPY (SELECT {number} AS v) TO {path}")).await;
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), format!("v\n{number}\n"), "{path}");
            for other in others.iter().filter(|other| *other != name) {
                assert_eq!(fs::read_to_string(folder.path().join(other)).unwrap(), "other\n", "{path}");
            }
            let found = fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(found, others.len() + usize::from(!others.contains(&name.as_str())), "{path}");
        }
    }
}

/// A pattern matches only if no file has the name, and only below folders with literal names.
#[tokio::test(flavor = "multi_thread")]
async fn patterns_apply_if_no_file_has_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("d[1]*");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("a1.csv"), "v\n1\n").unwrap();
    fs::write(folder.path().join("a1.csv"), "v\n1\n").unwrap();
    fs::write(folder.path().join("a2.csv"), "v\n2\n").unwrap();
    let session = local(1);
    for (name, sum) in [("a*.csv", 3), ("a?.csv", 3), ("a[13].csv", 1), ("d[1]*/a1.csv", 1)] {
        for path in ways(folder.path(), name) {
            assert_eq!(one(&session, &format!("SELECT sum(v) FROM {path}")).await, sum.to_string(), "{path}");
        }
    }
    for path in ways(folder.path(), "d[1]*/a*.csv") {
        let error = rows(&session, &format!("SELECT sum(v) FROM {path}")).await.unwrap_err().to_string();
        assert!(error.contains("a pattern cannot be within a folder"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_names_on_stores_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let session = local(1);
    for name in ["a\nb.csv", "a.csv#1"] {
        for path in ways(folder.path(), name) {
            let copy = format!("COPY (SELECT 1 AS v) TO {path} STORED AS CSV");
            assert!(rows(&session, &copy).await.is_err(), "{path}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{path}");
        }
    }
}

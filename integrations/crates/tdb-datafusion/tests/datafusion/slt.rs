//! The files of `tests/slt`, in the format of sqllogictest: `statement ok`, `statement error TEXT` and `query [sorted|pushed]`, with the
//! rows below `----`. Each query runs again over the same cells in memory, with nothing pushed down; those that are `pushed` tell of plans
//! and of arrays by their URIs, which memory has none of.
//!
//! `table NAME` names an array in the folder of the file, whose path stands for `$DIR`.

use std::path::Path;

use tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_datafusion::{Opener, TableOptions, TdbTable};

use crate::support::{local, local_with, rows, run, sorted, twin};

struct Record<'a> {
    line: usize,
    head: &'a str,
    sql: String,
    expected: Vec<String>,
}

fn records(text: &str) -> Vec<Record<'_>> {
    let mut records = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, head)) = lines.next() {
        if head.is_empty() || head.starts_with('#') {
            continue;
        }
        let (mut sql, mut expected, mut is_result) = (Vec::new(), Vec::new(), false);
        while let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty()) {
            if line == "----" {
                is_result = true;
            } else if is_result {
                expected.push(line.to_owned());
            } else {
                sql.push(line);
            }
        }
        records.push(Record { line: number + 1, head, sql: sql.join("\n"), expected });
    }
    records
}

/// Runs one file; how many queries ran over memory too.
async fn run_file(path: &Path, dir: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap().replace("$DIR", dir.to_str().unwrap());
    let session = local_with(TableOptions::new().partitions(2));
    let mut tables: Vec<String> = Vec::new();
    let mut compared = 0;
    for record in records(&text) {
        let place = format!("{}:{}: {}", path.display(), record.line, record.sql);
        match record.head.split_once(' ').unwrap_or((record.head, "")) {
            ("table", name) => {
                let (path, options) = (dir.join(name), TableOptions::new().partitions(2));
                let table = TdbTable::open(path.to_str().unwrap(), &Opener::local(), options).await.unwrap();
                session.deregister_table(name).unwrap();
                session.register_table(name, table).unwrap();
                tables.push(name.to_owned());
            }
            ("statement", "ok") => {
                rows(&session, &record.sql).await.unwrap_or_else(|error| panic!("{place}: {error}"));
            }
            ("statement", error) => {
                let wanted = error.strip_prefix("error ").unwrap_or_else(|| panic!("{place}: {error}"));
                let found = rows(&session, &record.sql).await.err().map(|error| error.to_string());
                assert!(
                    found.as_ref().is_some_and(|found| found.contains(wanted)),
                    "{place}: {found:?}, not {wanted:?}"
                );
            }
            ("query", how) => {
                let found = rows(&session, &record.sql).await.unwrap_or_else(|error| panic!("{place}: {error}"));
                let order = |lines: Vec<String>| if how == "sorted" { sorted(lines) } else { lines };
                assert_eq!(order(found), order(record.expected.clone()), "{place}");
                if how != "pushed" {
                    let memory = memory(&tables, dir).await;
                    let found = rows(&memory, &record.sql).await.unwrap_or_else(|error| panic!("{place}: {error}"));
                    assert_eq!(order(found), order(record.expected), "over memory, {place}");
                    compared += 1;
                }
            }
            _ => panic!("{place}: what is {:?}?", record.head),
        }
    }
    compared
}

async fn memory(tables: &[String], dir: &Path) -> SessionContext {
    let session = local(1);
    for name in tables {
        session.register_table(name.as_str(), twin(&session, &dir.join(name)).await.unwrap()).unwrap();
    }
    session
}

#[test]
fn the_files_give_what_they_say_pushed_down_and_over_memory() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 3);
    let compared: usize = files
        .iter()
        .map(|file| {
            let dir = tempfile::tempdir().unwrap();
            run(run_file(file, dir.path()))
        })
        .sum();
    assert!(compared >= 40, "{compared}");
}

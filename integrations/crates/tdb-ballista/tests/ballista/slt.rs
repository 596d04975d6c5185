//! The statements of `tdb-datafusion`'s own tests (`tests/slt` there), on a cluster: what they give in one process, errors included.

use std::path::Path;

use tdb_ballista::tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_ballista::tdb_datafusion::{self, Opener, SessionOptions, TableOptions, TdbTable};
use tdb_ballista::{Cluster, session};
use tokio::runtime::Runtime;

use crate::equal::rows;
use crate::processes::Processes;

/// The kind of each statement, and its text.
fn statements(text: &str) -> Vec<(String, String)> {
    let records = text.split("\n\n").map(|record| {
        let lines: Vec<&str> = record.lines().skip_while(|line| line.is_empty() || line.starts_with('#')).collect();
        let sql = lines.iter().skip(1).take_while(|line| **line != "----").copied().collect::<Vec<_>>().join("\n");
        (lines.first().copied().unwrap_or_default().to_owned(), sql)
    });
    records.filter(|(head, _)| !head.is_empty()).collect()
}

fn options() -> SessionOptions {
    SessionOptions::new(Opener::local()).table(TableOptions::new().partitions(2))
}

/// Runs a file in a session of its own, in a folder of its own; what each statement came to.
fn run(
    runtime: &Runtime,
    session: &SessionContext,
    text: &str,
    folder: &Path,
) -> Vec<(String, Result<Vec<String>, ()>)> {
    let mut found = Vec::new();
    for (head, sql) in statements(&text.replace("$DIR", folder.to_str().unwrap())) {
        match head.split_once(' ').unwrap_or((&head, "")) {
            ("table", name) => {
                let (path, options) = (folder.join(name), TableOptions::new().partitions(2));
                let table = TdbTable::open_blocking(path.to_str().unwrap(), &Opener::local(), options).unwrap();
                session.deregister_table(name).unwrap();
                session.register_table(name, table).unwrap();
            }
            // Plans aren't the same, and tell where arrays lie.
            ("query", "pushed") => {}
            ("statement" | "query", _) => {
                let what = rows(runtime, session, &sql).inspect_err(|error| println!("{sql}: {error}"));
                found.push((sql.replace(folder.to_str().unwrap(), "$DIR"), what.map_err(drop)));
            }
            (kind, _) => panic!("what is {kind:?}?"),
        }
    }
    found
}

fn check(runtime: &Runtime, cluster: &Cluster, file: &Path) -> usize {
    let text = std::fs::read_to_string(file).unwrap();
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let expected = run(runtime, &tdb_datafusion::session(options()).unwrap(), &text, here.path());
    let found = run(runtime, &session(options(), cluster).unwrap(), &text, there.path());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected, "{}", file.display());
    }
    expected.len()
}

#[test]
fn statements_give_what_they_give_in_one_process() {
    let processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tdb-datafusion/tests/slt");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let ran: usize = files.map(|file| check(&runtime, &processes.cluster(), &file)).sum();
    assert!(ran > 60, "{ran}");
}

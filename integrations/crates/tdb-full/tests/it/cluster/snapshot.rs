//! A query reads one snapshot of an array. Only the client writes.

use tdb_ballista::session;
use tdb_ballista::tdb_datafusion::tdb_array::{Array, WriteBatch};
use tokio::runtime::Runtime;

use super::arrays;
use super::equal::{options, rows};
use super::processes::Processes;

/// Plans a query, then changes the array before an executor starts.
#[test]
fn what_is_written_later_is_not_seen() {
    let folder = arrays::folder();
    let at = folder.path().to_str().unwrap();
    let processes = Processes::scheduler();
    let runtime = Runtime::new().unwrap();
    let there = session(options(), &processes.cluster()).unwrap();
    let query = format!("SELECT a.gene, a.first, b.last FROM '{at}/genes' a JOIN '{at}/genes' b ON a.gene = b.gene");
    let expected = rows(&runtime, &tdb_ballista::tdb_datafusion::session(options()).unwrap(), &query).unwrap();
    let asked = {
        let (there, query) = (there.clone(), query.clone());
        std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).unwrap())
    };
    processes.scheduler.line("execution query, job submitted");
    let array = Array::open(folder.path().join("genes")).unwrap();
    let cells = WriteBatch::new().with("gene", &[1, 999]).with("first", &[-1_i64, -1]).with("last", &[-1_i64, -1]);
    let cells = cells.with("chrom", tdb_ballista::tdb_datafusion::tdb_array::WriteColumn::strings(["x", "y"]));
    array.write().cells(cells).unwrap();
    let processes = processes.executor(&[], &[]);
    assert_eq!(asked.join().unwrap(), expected);
    // The next query sees the change.
    let later = rows(&runtime, &there, &query).unwrap();
    assert_eq!(later.len(), expected.len() + 1);
    drop(processes);
}

#[test]
fn writes_come_from_the_cluster_and_appear_at_once() {
    let folder = arrays::folder();
    let at = folder.path().to_str().unwrap();
    let processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let there = session(options(), &processes.cluster()).unwrap();
    let insert = format!(
        "INSERT INTO '{at}/genes' SELECT CAST(100 + row_number() OVER (ORDER BY pos) AS INT), chrom, pos, pos + 1 \
         FROM '{at}/cells' WHERE pos < 60"
    );
    let before = std::fs::read_dir(folder.path().join("genes/__commits")).unwrap().count();
    let inserted = rows(&runtime, &there, &insert).unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("genes/__commits")).unwrap().count(), before + 1);
    let count = rows(&runtime, &there, &format!("SELECT count(*) FROM '{at}/genes' WHERE gene > 99")).unwrap();
    assert_eq!(inserted, count);
    assert_ne!(count, ["0"]);
    let deleted = rows(&runtime, &there, &format!("DELETE FROM '{at}/genes' WHERE gene > 99")).unwrap();
    assert_eq!(deleted, count);
    let left = rows(&runtime, &there, &format!("SELECT count(*) FROM '{at}/genes'")).unwrap();
    assert_eq!(left, ["12"]);
    // Tables of the session.
    rows(&runtime, &there, &format!("CREATE TABLE wanted AS SELECT gene, first FROM '{at}/genes' WHERE gene < 3"))
        .unwrap();
    let joined =
        format!("SELECT w.gene, count(*) FROM wanted w JOIN '{at}/cells' c ON c.pos >= w.first GROUP BY w.gene");
    assert_eq!(rows(&runtime, &there, &joined).unwrap().len(), 3);
    assert_eq!(
        rows(&runtime, &there, "SELECT table_name FROM information_schema.tables WHERE table_name = 'wanted'").unwrap(),
        ["wanted"]
    );
}

#[test]
fn plans_are_explained() {
    let folder = arrays::folder();
    let at = folder.path().to_str().unwrap();
    let processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let there = session(options(), &processes.cluster()).unwrap();
    let query = format!("SELECT chrom, count(*) FROM '{at}/cells' WHERE pos BETWEEN 10 AND 30 GROUP BY chrom");
    let explained = rows(&runtime, &there, &format!("EXPLAIN {query}")).unwrap().join("\n");
    assert!(explained.contains("DataSourceExec"), "{explained}");
    let analyzed = rows(&runtime, &there, &format!("EXPLAIN ANALYZE {query}")).unwrap().join("\n");
    for words in ["stage 1", "ScanPartsExec", "output_rows", "/cells"] {
        assert!(analyzed.contains(words), "{words}: {analyzed}");
    }
}

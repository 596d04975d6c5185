//! A query reads one snapshot of an array. Only the client writes.

use tdb_ballista::tdb_datafusion::tdb_array::{Array, WriteBatch, WriteColumn};
use tokio::runtime::Runtime;

use super::equal::{Client, rows, rows_here};
use super::processes::Processes;

/// Plans a query, then changes the array before an executor starts.
#[test]
fn later_writes_are_not_visible() {
    let client = Client::of(Processes::scheduler());
    let query = "SELECT a.gene, a.first, b.last FROM 'AT/genes' a JOIN 'AT/genes' b ON a.gene = b.gene";
    let expected = rows_here(&client.placed(query));
    let asked = {
        let (there, query) = (client.there.clone(), client.placed(query));
        std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).unwrap())
    };
    client.processes.scheduler.line("execution query, job submitted");
    let array = Array::open(client.folder.path().join("genes")).unwrap();
    let cells = WriteBatch::new().with("gene", &[1, 999]).with("first", &[-1_i64, -1]).with("last", &[-1_i64, -1]);
    array.write().cells(cells.with("chrom", WriteColumn::strings(["x", "y"]))).unwrap();
    let client = Client { processes: client.processes.executor(&[], &[]), ..client };
    assert_eq!(asked.join().unwrap(), expected);
    // The next query sees the change.
    assert_eq!(client.rows(query).len(), expected.len() + 1);
}

#[test]
fn writes_read_from_the_cluster_and_are_atomic() {
    let client = Client::of(Processes::start(2));
    let commits = || std::fs::read_dir(client.folder.path().join("genes/__commits")).unwrap().count();
    let before = commits();
    let inserted = client.rows(
        "INSERT INTO 'AT/genes' SELECT CAST(100 + row_number() OVER (ORDER BY pos) AS INT), chrom, pos, pos + 1 \
         FROM 'AT/cells' WHERE pos < 60",
    );
    assert_eq!(commits(), before + 1);
    let count = client.rows("SELECT count(*) FROM 'AT/genes' WHERE gene > 99");
    assert_eq!(inserted, count);
    assert_ne!(count, ["0"]);
    assert_eq!(client.rows("DELETE FROM 'AT/genes' WHERE gene > 99"), count);
    assert_eq!(client.rows("SELECT count(*) FROM 'AT/genes'"), ["12"]);
    // Tables of the session.
    client.rows("CREATE TABLE wanted AS SELECT gene, first FROM 'AT/genes' WHERE gene < 3");
    let joined = "SELECT w.gene, count(*) FROM wanted w JOIN 'AT/cells' c ON c.pos >= w.first GROUP BY w.gene";
    assert_eq!(client.rows(joined).len(), 3);
    let named = "SELECT table_name FROM information_schema.tables WHERE table_name = 'wanted'";
    assert_eq!(client.rows(named), ["wanted"]);
}

#[test]
fn plans_are_explained() {
    let client = Client::of(Processes::start(2));
    let query = "SELECT chrom, count(*) FROM 'AT/cells' WHERE pos BETWEEN 10 AND 30 GROUP BY chrom";
    let explained = client.rows(&format!("EXPLAIN {query}")).join("\n");
    assert!(explained.contains("DataSourceExec"), "{explained}");
    let analyzed = client.rows(&format!("EXPLAIN ANALYZE {query}")).join("\n");
    for words in ["stage 1", "ScanPartsExec", "output_rows", "/cells"] {
        assert!(analyzed.contains(words), "{words}: {analyzed}");
    }
}

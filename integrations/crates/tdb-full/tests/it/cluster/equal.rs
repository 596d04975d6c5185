//! Queries on a cluster return the same rows as in one process.

use std::io;

use tdb_ballista::tdb_datafusion::datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use tdb_ballista::tdb_datafusion::datafusion::error::Result;
use tdb_ballista::tdb_datafusion::datafusion::prelude::SessionContext;
use tdb_ballista::tdb_datafusion::tdb_storage::{Storage, StorageError};
use tdb_ballista::tdb_datafusion::{self, Opener, SessionOptions, TableOptions};
use tdb_ballista::{Cluster, session};
use tdb_object_store::Stores;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::arrays;
use super::processes::Processes;

/// Statements, with `AT` in place of the folder.
pub(crate) const QUERIES: &[&str] = &[
    "SELECT count(*) FROM 'AT/cells'",
    "SELECT * FROM 'AT/cells'",
    "SELECT min(pos), max(pos), min(qual), max(qual), sum(depth), count(alt) FROM 'AT/cells'",
    "SELECT chrom, count(*), avg(depth), min(alt) FROM 'AT/cells' GROUP BY chrom",
    "SELECT kind, count(*) FROM 'AT/cells' WHERE kind = 'indel' OR kind = '' GROUP BY kind",
    "SELECT kind, alt, count(DISTINCT pos) FROM 'AT/cells' GROUP BY kind, alt",
    "SELECT pos, qual FROM 'AT/cells' WHERE chrom = 'chr1' AND pos BETWEEN 90 AND 400 ORDER BY pos",
    "SELECT chrom, pos FROM 'AT/cells' ORDER BY chrom, pos DESC LIMIT 17",
    "SELECT pos, depth FROM 'AT/cells' ORDER BY depth DESC NULLS LAST, pos LIMIT 9 OFFSET 4",
    "SELECT pos FROM 'AT/cells' WHERE depth IS NULL AND qual > 100 ORDER BY pos",
    "SELECT count(*) FROM 'AT/cells' WHERE qual = 0 OR qual <> qual",
    "SELECT alt, length(alt), upper(alt) FROM 'AT/cells' WHERE alt LIKE 'C%' OR alt = '' ORDER BY pos LIMIT 20",
    "SELECT g.gene, count(*), avg(c.depth) FROM 'AT/genes' g JOIN 'AT/cells' c \
     ON g.chrom = c.chrom AND c.pos BETWEEN g.first AND g.last GROUP BY g.gene",
    "SELECT g.gene, c.pos FROM 'AT/genes' g LEFT JOIN 'AT/cells' c ON c.pos = g.first ORDER BY g.gene, c.pos",
    "SELECT a.pos, b.depth FROM 'AT/cells' a JOIN 'AT/cells' b ON a.pos = b.pos AND a.chrom = b.chrom WHERE a.pos < 500",
    "SELECT gene FROM 'AT/genes' WHERE first NOT IN (SELECT pos FROM 'AT/cells' WHERE depth IS NOT NULL)",
    "SELECT gene FROM 'AT/genes' WHERE EXISTS (SELECT 1 FROM 'AT/cells' c WHERE c.pos = first)",
    "SELECT count(*) FROM 'AT/cells' WHERE depth > (SELECT avg(depth) FROM 'AT/cells')",
    "SELECT pos, rank() OVER (PARTITION BY chrom ORDER BY depth, pos) AS r FROM 'AT/cells' WHERE pos < 200",
    "SELECT sum(depth) OVER (ORDER BY chrom, pos) AS running FROM 'AT/cells' WHERE pos < 90",
    "SELECT chrom FROM 'AT/cells' UNION SELECT chrom FROM 'AT/genes'",
    "SELECT pos FROM 'AT/cells' WHERE pos < 50 UNION ALL SELECT first FROM 'AT/genes' UNION ALL SELECT 7",
    "SELECT pos FROM 'AT/cells' EXCEPT SELECT first FROM 'AT/genes'",
    "SELECT count(*), sum(value) FROM 'AT/grid'",
    "SELECT y / 10, x / 10, avg(value), count(name) FROM 'AT/grid' GROUP BY y / 10, x / 10",
    "SELECT * FROM 'AT/grid' WHERE y BETWEEN 20 AND 30 AND x IN (3, 5, 25) ORDER BY y, x",
    "SELECT * FROM 'AT/cells' WHERE pos > 100000",
    "SELECT count(*) FROM 'AT/cells@1970-01-01T00:00:01.002Z'",
    "SELECT 1 + 1, 'no table'",
    "SELECT count(*) > 0 FROM tdb_fragments('AT/cells')",
    "SELECT count(*) FROM 'AT/cells' c, tdb_fragments('AT/cells') f WHERE c.pos < 100",
    "WITH deep AS (SELECT * FROM 'AT/cells' WHERE depth > 50) \
     SELECT a.chrom, count(*) FROM deep a JOIN deep b ON a.pos = b.pos GROUP BY a.chrom ORDER BY 1",
];

/// Options for local folders and stores. Arrays always have five partitions.
pub(crate) fn options() -> SessionOptions {
    let stores = Stores::default();
    let opener = Opener::new(move |uri| {
        let opened = match uri.contains("://") && !uri.starts_with("file://") {
            true => stores.open(uri).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error)),
            false => Opener::local().storage(uri).map_err(io::Error::other),
        };
        opened.map_err(|error| StorageError::from_io(uri.to_owned(), error))
    });
    SessionOptions::new(opener).table(TableOptions::new().partitions(5))
}

/// Returns the rows of a statement as text, sorted unless the statement has an order.
pub(crate) fn rows(runtime: &Runtime, session: &SessionContext, statement: &str) -> Result<Vec<String>> {
    runtime.block_on(async {
        let batches = session.sql(statement).await?.collect().await?;
        let mut rows = Vec::new();
        for batch in &batches {
            let options = FormatOptions::default().with_null("NULL");
            let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).unwrap());
            let columns: Vec<_> = columns.collect();
            rows.extend(
                (0..batch.num_rows()).map(|row| {
                    columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join(" | ")
                }),
            );
        }
        let is_ordered = statement.rsplit(')').next().unwrap_or_default().contains("ORDER BY");
        if !is_ordered {
            rows.sort();
        }
        Ok(rows)
    })
}

/// Returns the rows of a statement in one process.
pub(crate) fn rows_here(statement: &str) -> Vec<String> {
    rows(&Runtime::new().unwrap(), &tdb_datafusion::session(options()).unwrap(), statement).unwrap()
}

/// A session on a cluster, next to a folder of arrays.
pub(crate) struct Client {
    pub(crate) folder: TempDir,
    pub(crate) processes: Processes,
    pub(crate) there: SessionContext,
    pub(crate) runtime: Runtime,
}

impl Client {
    pub(crate) fn of(processes: Processes) -> Self {
        let there = session(options(), &processes.cluster()).unwrap();
        Self { folder: arrays::folder(), processes, there, runtime: Runtime::new().unwrap() }
    }

    /// Inserts the folder for `AT`.
    pub(crate) fn placed(&self, statement: &str) -> String {
        statement.replace("'AT", &format!("'{}", self.folder.path().display()))
    }

    /// Returns the rows of a statement on the cluster, with `AT` in place of the folder.
    pub(crate) fn try_rows(&self, statement: &str) -> Result<Vec<String>> {
        rows(&self.runtime, &self.there, &self.placed(statement))
    }

    pub(crate) fn rows(&self, statement: &str) -> Vec<String> {
        self.try_rows(statement).unwrap()
    }
}

fn both(cluster: &Cluster) -> (SessionContext, SessionContext) {
    (tdb_datafusion::session(options()).unwrap(), session(options(), cluster).unwrap())
}

/// Checks all queries. `place` inserts the location of the arrays.
fn check(runtime: &Runtime, cluster: &Cluster, place: impl Fn(&str) -> String) {
    let (here, there) = both(cluster);
    for query in QUERIES {
        let query = place(query);
        let expected = rows(runtime, &here, &query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let found = rows(runtime, &there, &query).unwrap_or_else(|error| panic!("{query} on the cluster: {error}"));
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn cluster_matches_local_rows_on_folders() {
    let (processes, folder) = (Processes::start(2), arrays::folder());
    let runtime = Runtime::new().unwrap();
    let place = |query: &str| query.replace("AT", folder.path().to_str().unwrap());
    check(&runtime, &processes.cluster(), place);
    // More executor slots than partitions, and fewer.
    for partitions in [1, 2, 16] {
        let cluster = processes.cluster().partitions(partitions);
        let (here, there) = both(&cluster);
        for query in &QUERIES[..4] {
            let query = place(query);
            assert_eq!(rows(&runtime, &there, &query).unwrap(), rows(&runtime, &here, &query).unwrap(), "{query}");
        }
    }
    // Both executors ran tasks.
    for executor in &processes.executors {
        executor.line("Execute task");
    }
}

/// A unique prefix on an S3 server of `TDB_STORES`.
pub(crate) struct Place {
    prefix: String,
    /// Query parameters that select the server. They have to follow the path.
    settings: String,
}

impl Place {
    pub(crate) fn of_servers() -> Vec<Self> {
        let stores = std::env::var("TDB_STORES").unwrap_or_default();
        let nanoseconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let place = |url: &str| {
            let (place, settings) = url.split_at(url.find('?').unwrap_or(url.len()));
            let prefix = format!("{}/ballista-{nanoseconds}", place.trim_end_matches('/'));
            Self { prefix, settings: settings.to_owned() }
        };
        stores.split_whitespace().filter(|url| url.starts_with("s3://")).map(place).collect()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("{}/{name}{}", self.prefix, self.settings)
    }

    pub(crate) fn storage(&self, name: &str) -> std::sync::Arc<dyn Storage> {
        Stores::default().open(&self.uri(name)).unwrap()
    }

    /// Replaces `AT/NAME` in a query by URIs.
    pub(crate) fn query(&self, query: &str) -> String {
        let names = ["cells", "genes", "grid"];
        names.iter().fold(query.to_owned(), |query, name| query.replace(&format!("AT/{name}"), &self.uri(name)))
    }
}

#[test]
fn cluster_matches_local_rows_on_stores() {
    let places = Place::of_servers();
    if places.is_empty() {
        println!("skipped: TDB_STORES contains no S3 URL");
        return;
    }
    let processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    for place in places {
        println!("on {}", place.prefix);
        arrays::fill(|name| place.storage(name));
        check(&runtime, &processes.cluster(), |query| place.query(query));
    }
}

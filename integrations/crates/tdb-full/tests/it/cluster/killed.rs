//! Executors that disappear during a query.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tdb_ballista::session;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::arrays;
use super::equal::{Place, options, rows, rows_here};
use super::processes::{PATIENCE, Processes};

/// A query of two stages. The second stage fetches rows from the executors of the first.
const QUERY: &str = "SELECT chrom, pos % 97 AS p, count(*), sum(depth), max(alt), sum(length(regexp_replace(chrom || alt, '[a-z]+', 'x'))) \
    FROM 'AT/cells' GROUP BY chrom, p";

/// Creates a folder with a sparse array of `cells` cells per fragment.
fn sparse(cells: i64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    arrays::sparse(&arrays::local(folder.path(), "cells"), cells);
    folder
}

fn placed(query: &str, folder: &TempDir) -> String {
    query.replace("AT", folder.path().to_str().unwrap())
}

/// A running query.
type Asked = JoinHandle<Result<Vec<String>, String>>;

/// Starts a query on a cluster. Returns also the expected rows.
fn ask(processes: &Processes, query: String) -> (Asked, Vec<String>) {
    let expected = rows_here(&query);
    let there = session(options(), &processes.cluster().partitions(12)).unwrap();
    let rows = move || rows(&Runtime::new().unwrap(), &there, &query).map_err(|error| error.to_string());
    (std::thread::spawn(rows), expected)
}

/// Runs a query, and kills the second executor once it has started a task. Returns the actual and
/// the expected rows.
fn with_one_killed(query: String) -> (Vec<String>, Vec<String>) {
    let mut processes = Processes::start(2);
    let (asked, expected) = ask(&processes, query);
    processes.executors[1].line("Execute task");
    assert!(!asked.is_finished());
    processes.executors[1].kill();
    let end = Instant::now() + PATIENCE;
    while !asked.is_finished() {
        assert!(Instant::now() < end, "the query hangs: {}", processes.scheduler.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    (asked.join().unwrap().unwrap(), expected)
}

#[test]
fn killed_executor_causes_a_retry() {
    let folder = sparse(40_000);
    let (found, expected) = with_one_killed(placed(QUERY, &folder));
    assert_eq!(found, expected);
}

/// The same on each S3 server in `TDB_STORES`, where arrays and intermediate rows are in different
/// places.
#[test]
fn killed_executor_causes_a_retry_on_stores() {
    let places = Place::of_servers();
    if places.is_empty() {
        println!("only on local files: TDB_STORES contains no S3 URL");
    }
    for place in places {
        arrays::sparse(&place.storage("cells"), 10_000);
        let (found, expected) = with_one_killed(place.query(QUERY));
        assert_eq!(found, expected);
    }
}

#[test]
fn killed_executor_with_results_causes_a_retry() {
    let folder = sparse(40_000);
    // A single stage, whose rows are the result.
    let query = "SELECT chrom, pos, depth, regexp_replace(chrom || alt, '[a-z]+', 'x') FROM 'AT/cells' WHERE depth > 3";
    let (found, expected) = with_one_killed(placed(query, &folder));
    assert_eq!(found, expected);
}

/// All executors disappear, and a new one starts before the scheduler gives up.
#[test]
fn new_executor_takes_over() {
    let folder = sparse(40_000);
    let mut processes = Processes::start(1);
    let (asked, expected) = ask(&processes, placed(QUERY, &folder));
    processes.executors[0].line("Execute task");
    processes.executors[0].kill();
    let processes = processes.executor(&[], &[]);
    assert_eq!(asked.join().unwrap().unwrap(), expected);
    drop(processes);
}

/// A stopped executor finishes running tasks, accepts no more, and removes all files.
#[test]
fn stopped_executor_finishes_its_tasks() {
    let (folder, work) = (sparse(10_000), tempfile::tempdir().unwrap());
    let at = work.path().to_str().unwrap().to_owned();
    let mut processes = Processes::start(1).executor(&["--work", &at], &[]);
    let (asked, expected) = ask(&processes, placed(QUERY, &folder));
    processes.executors[1].line("Execute task");
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 1);
    assert!(processes.executors[1].stop().success());
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
    assert_eq!(asked.join().unwrap().unwrap(), expected);
    assert!(processes.scheduler.stop().success());
}

/// After a restart of the scheduler, executors reconnect, and running queries are lost.
#[test]
fn restarted_scheduler_loses_queries() {
    let folder = sparse(40_000);
    let mut processes = Processes::start(2);
    let query = placed(QUERY, &folder);
    let there = session(options(), &processes.cluster().partitions(12)).unwrap();
    let asked = {
        let (there, query) = (there.clone(), query.clone());
        std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).map_err(|error| error.to_string()))
    };
    processes.executors[1].line("Execute task");
    processes.scheduler.kill();
    let error = asked.join().unwrap().unwrap_err();
    assert!(error.contains("has lost the query"), "{error}");
    let next = Processes::scheduler_at(&processes.address.port().to_string());
    assert_eq!(rows(&Runtime::new().unwrap(), &there, &query).unwrap(), rows_here(&query));
    drop(next);
}

//! Executors that disappear during a query.

use std::time::{Duration, Instant};

use tdb_ballista::session;
use tokio::runtime::Runtime;

use super::arrays;
use super::equal::{Place, options, rows};
use super::processes::{PATIENCE, Processes};

/// A query of two stages. The second stage fetches rows from the executors of the first.
const QUERY: &str = "SELECT chrom, pos % 97 AS p, count(*), sum(depth), max(alt), sum(length(regexp_replace(chrom || alt, '[a-z]+', 'x'))) \
    FROM 'AT/cells' GROUP BY chrom, p";

/// Runs a query, and kills the second executor once it has started a task. Returns the actual and
/// the expected rows.
fn with_one_killed(query: String) -> (Vec<String>, Vec<String>) {
    let mut processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let expected = rows(&runtime, &tdb_ballista::tdb_datafusion::session(options()).unwrap(), &query).unwrap();
    let there = session(options(), &processes.cluster().partitions(12)).unwrap();
    let asked = std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).unwrap());
    processes.executors[1].line("Execute task");
    assert!(!asked.is_finished());
    processes.executors[1].kill();
    let end = Instant::now() + PATIENCE;
    while !asked.is_finished() {
        assert!(Instant::now() < end, "the query hangs: {}", processes.scheduler.said());
        std::thread::sleep(Duration::from_millis(20));
    }
    (asked.join().unwrap(), expected)
}

#[test]
fn one_of_two_costs_a_retry() {
    let folder = tempfile::tempdir().unwrap();
    arrays::sparse(&arrays::local(folder.path(), "cells"), 40_000);
    let (found, expected) = with_one_killed(QUERY.replace("AT", folder.path().to_str().unwrap()));
    assert_eq!(found, expected);
}

/// The same on each S3 server in `TDB_STORES`, where arrays and intermediate rows are in different
/// places.
#[test]
fn one_of_two_costs_a_retry_on_stores() {
    let places = Place::of_servers();
    if places.is_empty() {
        println!("on local files alone: TDB_STORES names no S3 servers");
    }
    for place in places {
        arrays::sparse(&place.storage("cells"), 10_000);
        let (found, expected) = with_one_killed(place.query(QUERY));
        assert_eq!(found, expected);
    }
}

#[test]
fn so_does_one_that_holds_a_part_of_the_result() {
    let folder = tempfile::tempdir().unwrap();
    arrays::sparse(&arrays::local(folder.path(), "cells"), 40_000);
    // A single stage, whose rows are the result.
    let query = "SELECT chrom, pos, depth, regexp_replace(chrom || alt, '[a-z]+', 'x') FROM 'AT/cells' WHERE depth > 3";
    let (found, expected) = with_one_killed(query.replace("AT", folder.path().to_str().unwrap()));
    assert_eq!(found, expected);
}

/// All executors disappear, and a new one starts before the scheduler gives up.
#[test]
fn another_one_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    arrays::sparse(&arrays::local(folder.path(), "cells"), 40_000);
    let mut processes = Processes::start(1);
    let runtime = Runtime::new().unwrap();
    let query = QUERY.replace("AT", folder.path().to_str().unwrap());
    let expected = rows(&runtime, &tdb_ballista::tdb_datafusion::session(options()).unwrap(), &query).unwrap();
    let there = session(options(), &processes.cluster().partitions(12)).unwrap();
    let asked = std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).unwrap());
    processes.executors[0].line("Execute task");
    processes.executors[0].kill();
    let processes = processes.executor(&[], &[]);
    assert_eq!(asked.join().unwrap(), expected);
    drop(processes);
}

/// A stopped executor finishes running tasks, accepts no more, and removes all files.
#[test]
fn one_that_is_told_to_stop() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    arrays::sparse(&arrays::local(folder.path(), "cells"), 10_000);
    let at = work.path().to_str().unwrap().to_owned();
    let mut processes = Processes::start(1).executor(&["--work", &at], &[]);
    let runtime = Runtime::new().unwrap();
    let query = QUERY.replace("AT", folder.path().to_str().unwrap());
    let expected = rows(&runtime, &tdb_ballista::tdb_datafusion::session(options()).unwrap(), &query).unwrap();
    let there = session(options(), &processes.cluster().partitions(12)).unwrap();
    let asked = std::thread::spawn(move || rows(&Runtime::new().unwrap(), &there, &query).unwrap());
    processes.executors[1].line("Execute task");
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 1);
    assert!(processes.executors[1].stop().success());
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
    assert_eq!(asked.join().unwrap(), expected);
    assert!(processes.scheduler.stop().success());
}

/// After a restart of the scheduler, executors reconnect, and running queries are lost.
#[test]
fn the_scheduler() {
    let folder = tempfile::tempdir().unwrap();
    arrays::sparse(&arrays::local(folder.path(), "cells"), 40_000);
    let mut processes = Processes::start(2);
    let runtime = Runtime::new().unwrap();
    let query = QUERY.replace("AT", folder.path().to_str().unwrap());
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
    let expected = rows(&runtime, &tdb_ballista::tdb_datafusion::session(options()).unwrap(), &query).unwrap();
    assert_eq!(rows(&runtime, &there, &query).unwrap(), expected);
    drop(next);
}

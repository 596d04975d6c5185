//! Errors appear quickly, and name the cause.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tdb_ballista::ballista_core::serde::BallistaPhysicalExtensionCodec;
use tdb_ballista::datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use tdb_ballista::tdb_datafusion::datafusion::error::{DataFusionError, Result};
use tdb_ballista::tdb_datafusion::datafusion::execution::TaskContext;
use tdb_ballista::tdb_datafusion::datafusion::physical_plan::ExecutionPlan;
use tdb_ballista::tdb_datafusion::{Opener, SessionOptions, TableOptions};
use tdb_ballista::{Cluster, Error, Executor, ExecutorOptions, PhysicalCodec, Scheduler, SchedulerOptions, session};
use tokio::runtime::Runtime;

use super::arrays;
use super::equal::{Client, options, rows};
use super::processes::{Process, Processes};

fn error_of(error: &DataFusionError) -> &Error {
    match error.find_root() {
        DataFusionError::External(source) => source.downcast_ref().unwrap_or_else(|| panic!("{error:?}")),
        _ => panic!("{error:?}"),
    }
}

fn ask(cluster: &Cluster) -> Result<Vec<String>> {
    let folder = arrays::folder();
    let query = format!("SELECT count(DISTINCT depth) FROM '{}/cells'", folder.path().to_str().unwrap());
    rows(&Runtime::new().unwrap(), &session(options(), cluster).unwrap(), &query)
}

#[test]
fn invalid_scheduler_addresses_are_errors() {
    for wrong in
        ["", "host", ":50050", "host:", "host:0", "host:65536", "a b:1", "http://host:1", "[::1:5", "[x]:5", "é:1"]
    {
        assert!(matches!(wrong.parse::<tdb_ballista::Address>(), Err(Error::Address { .. })), "{wrong}");
    }
    for right in ["localhost:50050", "127.0.0.1:1", "[::1]:50050", "a-b.example.org:65535"] {
        assert_eq!(right.parse::<tdb_ballista::Address>().unwrap().to_string(), right);
    }
}

#[test]
fn missing_scheduler_is_an_error() {
    // A port that was just closed.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = ask(&Cluster::new(free.to_string().parse().unwrap())).unwrap_err();
    assert!(matches!(error_of(&error), Error::NoScheduler { .. }), "{error}");
    assert!(error.to_string().contains(&free.to_string()), "{error}");
}

#[test]
fn other_program_at_the_address_is_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::Write as _;
        for connection in listener.incoming().map_while(std::io::Result::ok) {
            let _ = (&connection).write_all(b"HTTP/1.1 404 Not Found\r\n\r\n");
        }
    });
    let error = ask(&Cluster::new(address.to_string().parse().unwrap())).unwrap_err();
    assert!(matches!(error_of(&error), Error::Refused { .. } | Error::NoScheduler { .. }), "{error}");
}

#[test]
fn missing_executors_are_an_error() {
    let processes = Processes::scheduler();
    let begin = Instant::now();
    let error = ask(&processes.cluster().wait(Duration::from_secs(2))).unwrap_err();
    assert!(matches!(error_of(&error), Error::NoExecutors { .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    // The client has cancelled the job.
    processes.scheduler.line("Job cancelled");
}

#[test]
fn dropped_query_is_cancelled() {
    let client = Client::of(Processes::scheduler());
    let query = client.placed("SELECT count(DISTINCT depth) FROM 'AT/cells'");
    client.runtime.block_on(async {
        let asked = async { client.there.sql(&query).await?.collect().await };
        tokio::time::timeout(Duration::from_secs(2), asked).await.unwrap_err();
    });
    client.processes.scheduler.line("Job cancelled");
}

#[test]
fn executors_need_a_scheduler_and_a_port() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut executor = Process::start(&["executor", "--scheduler", &free.to_string(), "--wait", "1"], &[]);
    assert_eq!(executor.end().code(), Some(5), "{}", executor.said());
    executor.line(&free.to_string());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for command in ["executor", "scheduler"] {
        let mut process = Process::start(&[command, "--port", &port], &[]);
        assert_eq!(process.end().code(), Some(5), "{}", process.said());
        process.line("cannot listen at");
    }
    let mut scheduler = Process::start(&["scheduler", "--bind", "0.0.0.0"], &[]);
    assert_eq!(scheduler.end().code(), Some(2), "{}", scheduler.said());
    scheduler.line("--host");
}

/// Simulates an executor of another version: changes each scan to version 2.
#[derive(Debug)]
struct Newer(PhysicalCodec);

impl PhysicalExtensionCodec for Newer {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut bytes = bytes.to_vec();
        if let Some(version) = bytes.strip_prefix(b"tdb scan").is_some().then_some(8) {
            bytes[version] = 2;
        }
        self.0.try_decode(&bytes, inputs, context, converter)
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        self.0.try_encode(node, bytes, converter)
    }
}

/// Runs all roles in one process. The executor has another version.
#[test]
fn executor_of_another_version_is_an_error() {
    let runtime = Runtime::new().unwrap();
    let scheduler =
        runtime.block_on(Scheduler::bind(SchedulerOptions::new(SocketAddr::from(([127, 0, 0, 1], 0))))).unwrap();
    let address: tdb_ballista::Address = scheduler.address().to_string().parse().unwrap();
    runtime.spawn(scheduler.run());
    let codec = Newer(
        PhysicalCodec::of_executors(Opener::local()).with_inner(Arc::new(BallistaPhysicalExtensionCodec::default())),
    );
    let options = ExecutorOptions::new(address.clone(), Opener::local())
        .listen(IpAddr::from([127, 0, 0, 1]), 0, 0)
        .slots(1)
        .heartbeat(Duration::from_secs(1))
        .codec(Arc::new(codec));
    runtime.spawn(Executor::new(options).unwrap().run());
    let error = ask(&Cluster::new(address)).unwrap_err();
    assert!(matches!(error_of(&error), Error::Failed { .. }), "{error}");
    assert!(error.to_string().contains("it may be of another version"), "{error}");
    runtime.shutdown_background();
}

#[test]
fn keys_come_from_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    arrays::encrypted(&arrays::local(folder.path(), "secret"));
    let query = format!("SELECT sum(a) FROM '{}/secret' WHERE x > 10", folder.path().to_str().unwrap());
    let (digits, key) = arrays::key();
    let opener = Opener::local().with_keys(move |_| Some(key.clone()));
    let options = || SessionOptions::new(opener.clone()).table(TableOptions::new().partitions(3));
    let runtime = Runtime::new().unwrap();
    let without = Processes::start(1);
    let error = rows(&runtime, &session(options(), &without.cluster()).unwrap(), &query).unwrap_err();
    assert!(error.to_string().contains("key"), "{error}");
    assert!(!error.to_string().contains(&digits), "{error}");
    drop(without);
    let with = Processes::scheduler().executor(&[], &[("TDB_KEY", &digits)]);
    let found = rows(&runtime, &session(options(), &with.cluster()).unwrap(), &query).unwrap();
    assert_eq!(found, [(11..300).sum::<i32>().to_string()]);
    for process in with.executors.iter().chain([&with.scheduler]) {
        assert!(!process.said().contains(&digits));
    }
}

#[test]
fn invalid_statements_are_errors() {
    let client = Client::of(Processes::start(1));
    for (statement, words) in [
        ("SELECT nothing FROM 'AT/cells'", "nothing"),
        ("SELECT * FROM 'AT/none'", "none"),
        ("SELECT pos / (pos - pos) FROM 'AT/cells'", "DivideByZero"),
        ("SELECT CAST(alt AS INT) FROM 'AT/cells'", "Cannot cast string"),
    ] {
        let error = client.try_rows(statement).unwrap_err();
        assert!(error.to_string().contains(words), "{statement}: {error}");
    }
    // The cluster still works afterwards.
    assert_eq!(client.rows("SELECT count(*) FROM 'AT/genes'"), ["12"]);
}

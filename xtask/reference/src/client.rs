//! Sends jobs to the process with the library, and survives its crashes.

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::install::install;
use super::protocol::{GroupDescription, Job, Outcome, Request, TimedReads, receive, send};
use super::releases::{Release, release};
use super::worker::WORKER;
use super::{Error, Result};
use crate::model::{
    AggregateSpec, ArraySpec, Condition, Evolution, FragmentSummary, MetadataEntry, QuerySpec, ReadColumn, ReadResult,
    WriteSpec,
};

/// Default timeout of a job, see [`Reference::patience`].
const PATIENCE: Duration = Duration::from_secs(120);

/// A release of the reference library in a separate process.
#[derive(Debug)]
pub struct Reference {
    release: Release,
    config: BTreeMap<String, String>,
    patience: Duration,
    /// Limit of the process's address space in bytes.
    most_memory: Option<u64>,
    /// `None` before the first job and after a crash.
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    socket: UnixStream,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reference {
    /// Prepares a release, for example `2.30.0`. Downloads it if needed. The process starts with
    /// the first job.
    ///
    /// # Errors
    /// Fails if the release is unknown or cannot be downloaded.
    pub fn start(library: &str) -> Result<Self> {
        let release = release(library)?;
        install(release)?;
        Ok(Self { release, config: BTreeMap::new(), patience: PATIENCE, most_memory: None, process: None })
    }

    /// Returns the release.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Returns the settings of all further jobs.
    pub fn config(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.config
    }

    /// Sets the timeout of jobs. After a timeout the job fails, and the process is killed.
    pub fn patience(&mut self, patience: Duration) {
        self.patience = patience;
        self.process = None;
    }

    /// Limits the process's address space to this number of bytes. Larger allocations fail.
    pub fn most_memory(&mut self, bytes: u64) {
        self.most_memory = Some(bytes);
        self.process = None;
    }

    /// Ends the process. The next job gets a new process with fresh memory.
    pub fn restart(&mut self) {
        self.process = None;
    }

    /// Runs a job.
    ///
    /// # Errors
    /// Returns [`Error::Library`] if the library reports an error, and [`Error::Crashed`] or
    /// [`Error::TimedOut`] if the job does not return. In the latter cases the next job gets a new
    /// process.
    pub fn run(&mut self, job: &Job) -> Result<Outcome> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.spawn()?,
        };
        let request = Request { job: job.clone(), config: self.config.clone() };
        let exchanged = send(&mut process.socket, &request).and_then(|()| receive(&mut process.socket));
        match exchanged {
            Ok(Some(outcome)) => {
                self.process = Some(process);
                if let Outcome::Failed(message) = outcome { Err(Error::Library(message)) } else { Ok(outcome) }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(Error::TimedOut { seconds: self.patience.as_secs(), job: job.kind() })
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(Error::Protocol(error.to_string())),
            // The process is gone: end of stream, broken pipe, or connection reset.
            Ok(None) | Err(_) => {
                let status = process.child.wait()?.to_string();
                Err(Error::Crashed { status, job: job.kind() })
            }
        }
    }

    /// Returns the command that runs this program within the memory limit.
    fn command(&self) -> Result<Command> {
        let program = env::current_exe()?;
        let Some(bytes) = self.most_memory else { return Ok(Command::new(program)) };
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v $1; program=$2; shift 2; exec \"$program\" \"$@\"", "sh"]);
        shell.arg((bytes >> 10).to_string()).arg(program);
        Ok(shell)
    }

    fn spawn(&self) -> Result<Process> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(self.patience))?;
        let child = self
            .command()?
            .args([WORKER, self.release.library])
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(io::stderr()))
            .spawn()?;
        Ok(Process { child, socket: ours })
    }
}

/// Extracts the expected kind of outcome.
macro_rules! expect {
    ($outcome:expr, $pattern:pat => $value:expr) => {
        match $outcome? {
            $pattern => Ok($value),
            other => Err(Error::Protocol(format!("unexpected outcome {other:?}"))),
        }
    };
}

/// Jobs as methods, with the errors of [`Reference::run`].
#[allow(clippy::missing_errors_doc)]
impl Reference {
    pub fn version(&mut self) -> Result<String> {
        expect!(self.run(&Job::Version), Outcome::Text(version) => version)
    }

    /// Returns the peak memory of the process in bytes.
    pub fn peak_memory(&mut self) -> Result<u64> {
        expect!(self.run(&Job::PeakMemory), Outcome::Text(bytes) => bytes.parse().unwrap_or(0))
    }

    /// Returns the CPU time of the process in seconds, summed over all threads.
    pub fn cpu_seconds(&mut self) -> Result<f64> {
        expect!(self.run(&Job::CpuSeconds), Outcome::Text(seconds) => seconds.parse().unwrap_or(0.0))
    }

    /// Opens an array several times, and returns the time of each.
    pub fn time_opens(&mut self, uri: &str, repeats: usize) -> Result<TimedReads> {
        self.timed(&Job::TimeOpens { uri: uri.to_owned(), repeats })
    }

    pub fn create(&mut self, uri: &str, spec: &ArraySpec) -> Result<()> {
        self.done(Job::Create { uri: uri.to_owned(), spec: spec.clone() })
    }

    pub fn write(&mut self, uri: &str, spec: &WriteSpec) -> Result<()> {
        self.done(Job::Write { uri: uri.to_owned(), spec: spec.clone() })
    }

    pub fn open(&mut self, uri: &str) -> Result<()> {
        self.done(Job::Open { uri: uri.to_owned() })
    }

    pub fn read(&mut self, uri: &str, spec: &QuerySpec) -> Result<ReadResult> {
        let job = Job::Read { uri: uri.to_owned(), spec: spec.clone() };
        expect!(self.run(&job), Outcome::Cells(result) => result)
    }

    /// Computes aggregates of the cells of a read. Returns a column with one cell per aggregate.
    pub fn aggregate(&mut self, uri: &str, spec: &QuerySpec, aggregates: &[AggregateSpec]) -> Result<Vec<ReadColumn>> {
        let job = Job::Aggregate { uri: uri.to_owned(), spec: spec.clone(), aggregates: aggregates.to_vec() };
        expect!(self.run(&job), Outcome::Aggregates(columns) => columns)
    }

    pub fn time_aggregates(
        &mut self,
        uri: &str,
        spec: &QuerySpec,
        aggregates: &[AggregateSpec],
        repeats: usize,
    ) -> Result<TimedReads> {
        let (uri, aggregates) = (uri.to_owned(), aggregates.to_vec());
        self.timed(&Job::TimeAggregates { uri, spec: spec.clone(), aggregates, repeats })
    }

    /// Writes the same cells several times, and returns the time of each write. The result contains
    /// no cells.
    pub fn time_writes(&mut self, uri: &str, spec: &WriteSpec, repeats: usize) -> Result<TimedReads> {
        self.timed(&Job::TimeWrites { uri: uri.to_owned(), spec: spec.clone(), repeats })
    }

    pub fn time_reads(
        &mut self,
        uri: &str,
        spec: &QuerySpec,
        room: Option<usize>,
        repeats: usize,
    ) -> Result<TimedReads> {
        self.timed(&Job::TimeReads { uri: uri.to_owned(), spec: spec.clone(), room, repeats })
    }

    /// Opens an array and reads once into buffers of `room` bytes.
    pub fn time_first_read(&mut self, uri: &str, spec: &QuerySpec, room: usize) -> Result<TimedReads> {
        self.timed(&Job::TimeFirstRead { uri: uri.to_owned(), spec: spec.clone(), room })
    }

    /// Runs [the queries in sequence](QuerySpec::one_by_one) on an open array.
    pub fn time_reads_one_by_one(&mut self, uri: &str, spec: &QuerySpec, repeats: usize) -> Result<TimedReads> {
        self.timed(&Job::TimeReadsOneByOne { uri: uri.to_owned(), spec: spec.clone(), repeats })
    }

    pub fn evolve(&mut self, uri: &str, evolution: &Evolution) -> Result<()> {
        self.done(Job::Evolve { uri: uri.to_owned(), evolution: evolution.clone() })
    }

    pub fn delete(&mut self, uri: &str, condition: &Condition, timestamp: Option<u64>) -> Result<()> {
        self.done(Job::Delete { uri: uri.to_owned(), condition: condition.clone(), timestamp })
    }

    /// Deletes the fragments in a time range.
    pub fn delete_fragments(&mut self, uri: &str, times: (u64, u64)) -> Result<()> {
        self.done(Job::DeleteFragments { uri: uri.to_owned(), times })
    }

    /// Consolidates `mode` (`fragments`, `fragment_meta`, `commits`, `array_meta`).
    pub fn consolidate(&mut self, uri: &str, mode: &str) -> Result<()> {
        self.with_setting("sm.consolidation.mode", mode, Job::Consolidate { uri: uri.to_owned() })
    }

    /// Deletes the files that a consolidation of `mode` has replaced.
    pub fn vacuum(&mut self, uri: &str, mode: &str) -> Result<()> {
        self.with_setting("sm.vacuum.mode", mode, Job::Vacuum { uri: uri.to_owned() })
    }

    pub fn put_metadata(&mut self, uri: &str, put: &[MetadataEntry], timestamp: Option<u64>) -> Result<()> {
        let (put, delete) = (put.to_vec(), Vec::new());
        self.done(Job::ChangeMetadata { uri: uri.to_owned(), put, delete, timestamp })
    }

    pub fn delete_metadata(&mut self, uri: &str, keys: &[String], timestamp: Option<u64>) -> Result<()> {
        let (put, delete) = (Vec::new(), keys.to_vec());
        self.done(Job::ChangeMetadata { uri: uri.to_owned(), put, delete, timestamp })
    }

    pub fn metadata(&mut self, uri: &str, timestamps: Option<(u64, u64)>) -> Result<Vec<MetadataEntry>> {
        let job = Job::Metadata { uri: uri.to_owned(), timestamps };
        expect!(self.run(&job), Outcome::Metadata(entries) => entries)
    }

    pub fn describe_group(&mut self, uri: &str) -> Result<GroupDescription> {
        expect!(self.run(&Job::DescribeGroup { uri: uri.to_owned() }), Outcome::Group(group) => group)
    }

    pub fn consolidate_group_metadata(&mut self, uri: &str) -> Result<()> {
        self.done(Job::ConsolidateGroupMetadata { uri: uri.to_owned() })
    }

    pub fn vacuum_group_metadata(&mut self, uri: &str) -> Result<()> {
        self.done(Job::VacuumGroupMetadata { uri: uri.to_owned() })
    }

    pub fn fragments(&mut self, uri: &str) -> Result<Vec<FragmentSummary>> {
        expect!(self.run(&Job::Fragments { uri: uri.to_owned() }), Outcome::Fragments(fragments) => fragments)
    }

    fn timed(&mut self, job: &Job) -> Result<TimedReads> {
        expect!(self.run(job), Outcome::Timed(timed) => timed)
    }

    /// Runs a job that has no result.
    pub fn done(&mut self, job: Job) -> Result<()> {
        expect!(self.run(&job), Outcome::Done => ())
    }

    fn with_setting(&mut self, name: &str, value: &str, job: Job) -> Result<()> {
        let before = self.config.insert(name.to_owned(), value.to_owned());
        let outcome = self.done(job);
        match before {
            Some(before) => self.config.insert(name.to_owned(), before),
            None => self.config.remove(name),
        };
        outcome
    }
}

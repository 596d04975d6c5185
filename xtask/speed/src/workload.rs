//! Workloads, which are the rows of the table.

use std::path::PathBuf;

use tdb_reference::{Reference, TimedReads};

use super::limits::Machine;
use super::outcome::Result;

/// Groups of workloads, each with a separate mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Group {
    Open,
    Dense,
    Sparse,
    /// Thousands of points and ranges.
    Many,
    Conditions,
    Aggregates,
    Writes,
    Maintenance,
    Encode,
    Decode,
    /// CSV and Parquet, compared with DuckDB because the library supports neither.
    Files,
}

impl Group {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "opening",
            Self::Dense => "dense reads",
            Self::Sparse => "sparse reads",
            Self::Many => "many points and ranges",
            Self::Conditions => "conditions",
            Self::Aggregates => "aggregates",
            Self::Writes => "writes",
            Self::Maintenance => "consolidation and vacuum",
            Self::Encode => "filters, encoding",
            Self::Decode => "filters, decoding",
            Self::Files => "files, compared with DuckDB",
        }
    }

    /// `true` if the group counts in the mean of all rows, which compares with the reference
    /// library.
    pub fn counts(self) -> bool {
        self != Self::Files
    }
}

/// The number of repeats and threads of a run.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub threads: usize,
    pub repeats: usize,
    /// `true` if a digest of the result is required.
    pub digest: bool,
}

/// A lower bound of the time of any program.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub what: &'static str,
    /// CPU time of one thread in seconds.
    pub seconds: f64,
    /// `true` if the limit is the speed of a codec, which both sides use.
    pub is_codec: bool,
}

/// The environment of workloads.
pub struct Bench {
    pub reference: Reference,
    /// Folder of the arrays that are kept between runs.
    pub arrays: PathBuf,
    /// Folder in memory for written arrays.
    pub memory: tempfile::TempDir,
    pub machine: Machine,
}

impl Bench {
    /// Sets the number of threads of the reference library, and restarts its process to reset the
    /// peak memory.
    pub fn reference_of(&mut self, threads: usize) -> &mut Reference {
        set_threads(&mut self.reference, threads);
        self.reference.restart();
        &mut self.reference
    }

    /// Returns a path in memory.
    pub fn in_memory(&self, name: &str) -> String {
        self.memory.path().join(name).to_string_lossy().into_owned()
    }
}

/// Sets the number of threads of the reference library.
pub fn set_threads(reference: &mut Reference, threads: usize) {
    for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
        reference.config().insert(setting.to_owned(), threads.to_string());
    }
}

/// A workload.
pub trait Workload {
    fn name(&self) -> &str;

    fn group(&self) -> Group;

    /// Creates the inputs.
    fn prepare(&mut self, bench: &mut Bench) -> Result<()>;

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads>;

    fn ours(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads>;

    /// Returns the minimum time on this machine. `timed` is the measurement.
    fn limit(&self, _bench: &Bench, _timed: &TimedReads) -> Result<Option<Limit>> {
        Ok(None)
    }

    /// Deletes files that are not needed any longer.
    fn finish(&mut self, _bench: &mut Bench) -> Result<()> {
        Ok(())
    }
}

//! A row of the table: something that both sides do.

use std::path::PathBuf;

use tdb_reference::{Reference, TimedReads};

use super::limits::Machine;
use super::outcome::Result;

/// What workloads are told apart by; each has a mean of its own.
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
    /// CSV and Parquet: beside DuckDB, since the library has neither.
    Files,
}

impl Group {
    pub const ALL: [Self; 11] = [
        Self::Open,
        Self::Dense,
        Self::Sparse,
        Self::Many,
        Self::Conditions,
        Self::Aggregates,
        Self::Writes,
        Self::Maintenance,
        Self::Encode,
        Self::Decode,
        Self::Files,
    ];

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
            Self::Files => "files, beside DuckDB",
        }
    }

    /// Whether its rows count in the mean of all: the other side is the reference library.
    pub fn counts(self) -> bool {
        self != Self::Files
    }
}

/// How often something is done, and by how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub threads: usize,
    pub repeats: usize,
    /// Whether a digest of the result is made.
    pub digest: bool,
}

/// What no program can be faster than.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub what: &'static str,
    /// Of one thread.
    pub seconds: f64,
    /// Whether it is a codec, which both sides have.
    pub is_codec: bool,
}

/// What workloads are run with.
pub struct Bench {
    pub reference: Reference,
    /// Arrays that are kept from run to run.
    pub arrays: PathBuf,
    /// A folder in memory, for what is written.
    pub memory: tempfile::TempDir,
    pub machine: Machine,
}

impl Bench {
    /// Gives the reference library so many threads, in a process of its own: the peak of memory is that of what is done next.
    pub fn reference_of(&mut self, threads: usize) -> &mut Reference {
        for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
            self.reference.config().insert(setting.to_owned(), threads.to_string());
        }
        self.reference.restart();
        &mut self.reference
    }

    /// A path in memory.
    pub fn in_memory(&self, name: &str) -> String {
        self.memory.path().join(name).to_string_lossy().into_owned()
    }
}

/// A row.
pub trait Workload {
    fn name(&self) -> &str;

    fn group(&self) -> Group;

    /// Makes what is worked on.
    fn prepare(&mut self, bench: &mut Bench) -> Result<()>;

    fn theirs(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads>;

    fn ours(&self, bench: &mut Bench, ask: Ask) -> Result<TimedReads>;

    /// What the machine needs for it at least; `timed` is what was measured.
    fn limit(&self, bench: &Bench, timed: &TimedReads) -> Result<Option<Limit>>;

    /// Removes what nobody else needs.
    fn finish(&mut self, _bench: &mut Bench) -> Result<()> {
        Ok(())
    }
}

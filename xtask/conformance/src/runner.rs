//! Runs cases, of whatever kind they are: several at the same time, each with a limit of time, and failing ones again as
//! something smaller.

mod shared;
#[cfg(test)]
mod tests;
mod watch;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tdb_reference::Result;

use super::coverage::Coverage;
use super::tally::{Counts, Tally};
use super::verdict::{Failure, Verdict};
use shared::Shared;

/// A kind of case.
pub trait CaseKind: Send + Sync + 'static {
    /// What a case is; it follows from its index, so that it can be run again.
    type Case: Clone;
    /// The libraries' processes. Each thread has its own.
    type Sides;

    /// The subcommand and the options with which the cases are run again, but for seed and index.
    fn command(&self) -> String;

    /// Starts the processes.
    ///
    /// # Errors
    ///
    /// If a release can't be fetched.
    fn start(&self) -> Result<Self::Sides>;

    /// The case of an index; none if there is none of this kind.
    fn case(&self, index: u64) -> Option<Self::Case>;

    /// Runs a case below `folder`. What it counts is added up where the case doesn't fail.
    ///
    /// # Errors
    ///
    /// What ends the whole run: a folder can't be made, or a process not be started.
    fn examine(
        &self,
        case: &Self::Case,
        index: u64,
        sides: &mut Self::Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict>;

    /// The smallest case found that fails in the same way; the case itself, where there is none. `fails` runs a case and says
    /// how it fails.
    fn shrink(
        &self,
        case: Self::Case,
        failure: Failure,
        fails: &mut dyn FnMut(&Self::Case) -> Option<Failure>,
    ) -> (Self::Case, Failure);

    /// The case for people, with one of its questions or all.
    fn print(&self, case: &Self::Case, index: u64, question: Option<usize>) -> String;

    /// Counts what a case is made of that both sides agreed upon.
    fn cover(&self, _case: &Self::Case, _coverage: &mut Coverage) {}
}

/// Which cases are run.
#[derive(Clone, Debug)]
pub enum Amount {
    /// Those of these indices.
    Indices(Range<u64>),
    /// From an index on, until so many have been compared: what is left out is made up for.
    Compared { first: u64, count: u64 },
}

impl Amount {
    /// The one case of an index, or so many from the first one on.
    pub fn new(case: Option<u64>, count: u64) -> Self {
        Self::Indices(case.map_or(0..count, |case| case..case + 1))
    }

    /// The same, where cases that are left out are made up for.
    pub fn compared(case: Option<u64>, count: u64) -> Self {
        case.map_or(Self::Compared { first: 0, count }, |first| Self::Compared { first, count: 1 })
    }
}

/// How cases are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the indices are random numbers of.
    pub seed: u64,
    /// How many cases run at the same time.
    pub jobs: usize,
    /// After so many failures no further case begins.
    pub failures: u64,
    /// Whether failing cases are made smaller.
    pub shrinks: bool,
    /// How long a case may take. After that it has failed, and no further case begins: a thread can't be stopped, and one that
    /// goes on takes memory and time from others.
    pub patience: Duration,
    /// Whether each case is printed before it is run.
    pub prints: bool,
}

/// Runs cases, prints those that fail, and counts what came of them.
///
/// # Errors
///
/// What makes the whole run pointless: a library that can't be started, or that can make none of the cases.
pub fn run<K: CaseKind>(
    kind: K,
    amount: Amount,
    settings: &Settings,
    folder: &Path,
) -> std::result::Result<Tally, String> {
    let shared = Arc::new(Shared::new(kind, amount, settings.clone(), folder.to_owned()));
    // Not of a scope, which would wait for threads that don't come to an end.
    let threads: Vec<_> = (0..settings.jobs.max(1))
        .map(|job| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.run(job))
        })
        .collect();
    shared.watch(&threads);
    shared.into_tally()
}

/// A case that is being run.
#[derive(Clone, Copy, Debug)]
struct Running {
    index: u64,
    /// When it began, or a smaller one in its place.
    began: Instant,
    /// Whether the case is there, and not only its index.
    is_made: bool,
    /// Whether it has failed, and smaller ones are tried.
    has_failed: bool,
}

//! Runs cases of any kind in parallel, with a timeout per case, and shrinks failing cases.

mod kind;
mod shared;
#[cfg(test)]
mod tests;
mod watch;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::tally::Tally;
use shared::Shared;

pub use kind::{CaseKind, Run};

/// The cases to run.
#[derive(Clone, Debug)]
pub enum Amount {
    /// The cases of these indices.
    Indices(Range<u64>),
    /// Cases from index `first` on, until `count` cases have been compared. Cases that are left out
    /// are replaced.
    Compared { first: u64, count: u64 },
}

impl Amount {
    /// Returns the amount for one case, or for `count` cases from index 0 on.
    pub fn new(case: Option<u64>, count: u64) -> Self {
        Self::Indices(case.map_or(0..count, |case| case..case + 1))
    }

    /// Returns the amount for one case, or for `count` compared cases.
    pub fn compared(case: Option<u64>, count: u64) -> Self {
        case.map_or(Self::Compared { first: 0, count }, |first| Self::Compared { first, count: 1 })
    }
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The seed of all cases.
    pub seed: u64,
    /// Number of concurrent cases.
    pub jobs: usize,
    /// Number of failures after which no further case starts.
    pub failures: u64,
    /// `true` if failing cases are shrunk.
    pub shrinks: bool,
    /// Timeout of a case. A timeout is a failure, and no further case starts: the thread cannot be
    /// stopped, and takes memory and time from other threads.
    pub patience: Duration,
    /// `true` if each case is printed before it runs.
    pub prints: bool,
}

/// Runs cases, prints failing cases, and counts the results.
///
/// # Errors
/// Fails if the library cannot be started or cannot create any of the cases.
pub fn run<K: CaseKind>(kind: K, amount: Amount, settings: &Settings, folder: &Path) -> Result<Tally, String> {
    let shared = Arc::new(Shared::new(kind, amount, settings.clone(), folder.to_owned()));
    // A scope would wait for threads that never end.
    let threads: Vec<_> = (0..settings.jobs.max(1))
        .map(|job| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.run(job))
        })
        .collect();
    shared.watch(&threads);
    shared.into_tally()
}

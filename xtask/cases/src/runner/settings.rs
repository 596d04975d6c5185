//! Settings of a run.

use std::ops::Range;
use std::time::Duration;

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

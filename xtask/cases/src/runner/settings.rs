//! Which cases are run, and how.

use std::ops::Range;
use std::time::Duration;

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

//! Measures wall time and CPU time.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::memory::{peak_memory, reset_peak_memory};
use crate::protocol::{TimedRead, TimedReads};

/// Returns the CPU time of this process in seconds, summed over all threads.
#[must_use]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A stopwatch for wall time and CPU time.
#[derive(Debug)]
pub struct Stopwatch {
    start: Instant,
    cpu_start: f64,
}

impl Stopwatch {
    #[must_use]
    pub fn start() -> Self {
        let cpu_start = cpu_seconds();
        Self { start: Instant::now(), cpu_start }
    }

    /// Returns the wall time since the start in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Returns the CPU time of all threads since the start in seconds.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        cpu_seconds() - self.cpu_start
    }

    /// Returns the measured times of an operation with `submits` submissions.
    #[must_use]
    pub fn taken(&self, open_seconds: f64, submits: usize) -> TimedRead {
        TimedRead { seconds: self.seconds(), cpu_seconds: self.cpu_seconds(), open_seconds, submits }
    }
}

/// Measures an operation several times, and the peak memory meanwhile.
///
/// # Errors
/// Fails if the operation fails.
pub fn repeated<E>(repeats: usize, mut operation: impl FnMut() -> Result<TimedRead, E>) -> Result<TimedReads, E> {
    reset_peak_memory();
    let reads = (0..repeats).map(|_| operation()).collect::<Result<_, _>>()?;
    Ok(TimedReads { reads, peak_memory: peak_memory(), ..TimedReads::default() })
}

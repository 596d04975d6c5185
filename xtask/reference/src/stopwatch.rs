//! How long something takes: by the clock, and by the time of processors.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::protocol::TimedRead;

/// Seconds that processors have worked for this process, all threads together.
#[must_use]
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs by the clock, and by the time of processors.
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

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds of all processors since the start.
    #[must_use]
    pub fn cpu_seconds(&self) -> f64 {
        cpu_seconds() - self.cpu_start
    }

    /// What was timed, which took so many submissions.
    #[must_use]
    pub fn taken(&self, open_seconds: f64, submits: usize) -> TimedRead {
        TimedRead { seconds: self.seconds(), cpu_seconds: self.cpu_seconds(), open_seconds, submits }
    }
}

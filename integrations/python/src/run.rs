//! Work without the GIL, which a signal handler may interrupt.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tdb_array::Monitor;

use crate::error::{Failure, Result};

/// The time between two checks for signals.
const STEP: Duration = Duration::from_millis(50);

/// The size of data, in bytes, from which on a read or a write runs on another thread, where Ctrl-C
/// stops it.
pub(crate) const LARGE: u64 = 4 << 20;

/// Runs a job that takes little time.
pub(crate) fn briefly<T: Send>(py: Python<'_>, job: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    py.detach(job)
}

/// Runs a job on another thread. Meanwhile, this thread runs signal handlers, and calls `each`
/// every 50 ms. If one of them fails, the monitor is cancelled, and the failure is returned when
/// the job has ended.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    monitor: &Monitor,
    mut each: impl FnMut(Python<'_>) -> PyResult<()> + Send,
    job: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| {
        thread::scope(|scope| {
            let (done, waits) = channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the end, also after a panic.
                let _done = done;
                job()
            });
            let mut stopped = None;
            while waits.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                if stopped.is_some() {
                    continue;
                }
                if let Err(error) = Python::attach(|py| py.check_signals().and_then(|()| each(py))) {
                    monitor.cancel();
                    stopped = Some(error);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match stopped {
                Some(error) => Err(Failure::Python(error)),
                None => result,
            }
        })
    })
}

/// Runs a job without progress reports: see [`watched`].
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    monitor: &Monitor,
    job: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    watched(py, monitor, |_| Ok(()), job)
}

//! Measurement of the time with at least one pending request.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// A replacement for targets without a clock.
#[cfg(target_family = "wasm")]
#[derive(Clone, Copy, Debug)]
struct Instant;

#[cfg(target_family = "wasm")]
impl Instant {
    fn now() -> Self {
        Self
    }

    fn elapsed(self) -> Duration {
        Duration::ZERO
    }
}

/// The total time during which at least one request was pending.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of pending requests.
    count: u64,
    /// Start of the current period, if requests are pending.
    since: Option<Instant>,
    total: Duration,
}

/// A pending request, until dropped.
pub(super) struct Waits<'a>(&'a Waiting);

impl Waiting {
    pub(super) fn begin(&self) -> Waits<'_> {
        let mut state = self.state();
        state.count += 1;
        if state.count == 1 {
            state.since = Some(Instant::now());
        }
        Waits(self)
    }

    pub(super) fn so_far(&self) -> Duration {
        let state = self.state();
        state.total + state.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns the time so far and resets it to zero.
    pub(super) fn take(&self) -> Duration {
        let mut state = self.state();
        let now = state.since.map_or(Duration::ZERO, |since| since.elapsed());
        if state.since.is_some() {
            state.since = Some(Instant::now());
        }
        std::mem::take(&mut state.total) + now
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.count -= 1;
        if state.count == 0
            && let Some(since) = state.since.take()
        {
            state.total += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn concurrent_requests_are_timed_once() {
        let waiting = Waiting::default();
        let (first, second) = (waiting.begin(), waiting.begin());
        thread::sleep(Duration::from_millis(20));
        drop(first);
        let so_far = waiting.so_far();
        drop(second);
        let all = waiting.so_far();
        assert!(so_far >= Duration::from_millis(20) && all >= so_far, "{so_far:?} {all:?}");
        // No request is pending now.
        thread::sleep(Duration::from_millis(5));
        assert_eq!(waiting.take(), all);
        assert_eq!(waiting.so_far(), Duration::ZERO);
    }
}

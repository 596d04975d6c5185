//! Enforces the timeout of cases.

use std::sync::PoisonError;
use std::thread::JoinHandle;
use std::time::Duration;

use super::kind::CaseKind;
use super::shared::{Running, Shared};
use crate::verdict::{Failure, Kind};

/// Interval between checks of the threads.
const PAUSE: Duration = Duration::from_millis(20);

impl<K: CaseKind> Shared<K> {
    /// Waits until all threads are done. Cases that time out fail, and the runner abandons their
    /// threads.
    pub(super) fn watch(&self, threads: &[JoinHandle<()>]) {
        let patience = self.settings.patience;
        let mut state = self.state();
        loop {
            let mut waiting = threads.iter().zip(&state.given_up);
            if waiting.all(|(thread, given_up)| *given_up || thread.is_finished()) {
                return;
            }
            let overdue = |running: &Running| running.began.elapsed() > patience;
            let late = (0..threads.len()).find_map(|job| {
                let running = state.running[job].filter(|running| !state.given_up[job] && overdue(running))?;
                Some((job, running))
            });
            if let Some((job, running)) = late {
                let detail = format!("no end after {} seconds", patience.as_secs_f64());
                let failure = Failure::new(Kind::NoEnd, detail);
                match running.has_failed {
                    // The case has been counted already.
                    true => state.tally.hung += 1,
                    false => state.tally.fail(&failure),
                }
                state.given_up[job] = true;
                state.is_stopped = true;
                self.changed.notify_all();
                drop(state);
                // The generation of the case may hang too.
                let case = running.is_made.then(|| self.kind.case(running.index)).flatten();
                let case = case.map(|case| self.kind.print(&case, running.index, None)).unwrap_or_default();
                self.report(running.index, &case, &failure);
                state = self.state();
                continue;
            }
            state = self.changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

//! The state that the threads of a run share, and the work of each thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::kind::{CaseKind, Run};
use super::settings::{Amount, Settings};
use crate::ours::describe;
use crate::tally::{Counts, Tally};
use crate::verdict::{Failure, Kind, Verdict, verdict_of};

/// Number of consecutive indices without a case after which the run fails.
const MOST_UNFIT: u64 = 10_000;
/// Number of cases between progress messages.
const STEP: u64 = 100;

pub(super) struct Shared<K> {
    pub(super) kind: K,
    pub(super) settings: Settings,
    folder: PathBuf,
    started: Instant,
    state: Mutex<State>,
    /// Notified of every change of the state.
    pub(super) changed: Condvar,
}

/// A running case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) index: u64,
    /// Start of the case, or of a smaller case during shrinking.
    pub(super) began: Instant,
    /// `true` if the case has been generated.
    pub(super) is_made: bool,
    /// `true` if the case has failed and is being shrunk.
    pub(super) has_failed: bool,
}

pub(super) struct State {
    amount: Amount,
    next: u64,
    /// Number of consecutive indices without a case.
    unfit: u64,
    /// The running case of each thread.
    pub(super) running: Vec<Option<Running>>,
    /// `true` for each thread whose case has timed out.
    pub(super) given_up: Vec<bool>,
    pub(super) tally: Tally,
    /// `true` if no further case may start.
    pub(super) is_stopped: bool,
    /// Why the whole run has failed.
    error: Option<String>,
}

/// Decides whether a thread gets another case.
enum More {
    Yes,
    /// The decision depends on the results of the running cases.
    Perhaps,
    No,
}

impl State {
    fn more(&self) -> More {
        match &self.amount {
            Amount::Indices(range) if self.next < range.end => More::Yes,
            Amount::Indices(_) => More::No,
            Amount::Compared { count, .. } => {
                let running = self.running.iter().flatten().count() as u64;
                match self.tally.compared() {
                    // Starts only cases that are certainly needed. The set of cases must not depend
                    // on timing.
                    compared if compared + running < *count => More::Yes,
                    _ if running > 0 => More::Perhaps,
                    _ => More::No,
                }
            }
        }
    }

    fn end(&mut self, error: String) {
        self.is_stopped = true;
        self.error.get_or_insert(error);
    }
}

impl<K: CaseKind> Shared<K> {
    pub(super) fn new(kind: K, amount: Amount, settings: Settings, folder: PathBuf) -> Self {
        let jobs = settings.jobs.max(1);
        let next = match &amount {
            Amount::Indices(range) => range.start,
            Amount::Compared { first, .. } => *first,
        };
        let state = State {
            amount,
            next,
            unfit: 0,
            running: vec![None; jobs],
            given_up: vec![false; jobs],
            tally: Tally::default(),
            is_stopped: false,
            error: None,
        };
        Self { kind, settings, folder, started: Instant::now(), state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tally. Threads that have timed out may still use the rest of the state.
    pub(super) fn into_tally(self: std::sync::Arc<Self>) -> Result<Tally, String> {
        let mut state = self.state();
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut state.tally)),
        }
    }

    /// Runs a thread of the run, and records its failure.
    pub(super) fn run(&self, job: usize) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work(job)));
        let outcome = outcome.unwrap_or_else(|panic| Err(format!("a thread panicked: {}", message(&*panic))));
        let mut state = self.state();
        state.running[job] = None;
        if let Err(error) = outcome {
            state.end(error);
        }
        self.changed.notify_all();
    }

    /// Runs cases until there are no more.
    fn work(&self, job: usize) -> Result<(), String> {
        let mut sides = None;
        while let Some(index) = self.take(job) {
            let case = match catch_unwind(AssertUnwindSafe(|| self.kind.case(index))) {
                Ok(Some(case)) => case,
                Ok(None) => {
                    self.is_unfit(job);
                    continue;
                }
                Err(panic) => {
                    let failure =
                        Failure::new(Kind::OurPanic, format!("cannot generate the case: {}", message(&*panic)));
                    self.state().tally.fail(&failure);
                    self.report(index, "", &failure);
                    self.finish(job);
                    continue;
                }
            };
            self.begin(job);
            if self.settings.prints {
                println!("{}", self.kind.print(&case, index, None));
            }
            let (mut verdict, mut counts) = self.examine(job, index, &case, &mut sides)?;
            if matches!(&verdict, Verdict::Failed(failure) if failure.kind == Kind::TheirCrash) {
                // An earlier case may have corrupted the process, so the case runs again in a new
                // process.
                self.state().tally.count_reason("cases run again", "the library crashed");
                (verdict, counts) = self.examine(job, index, &case, &mut sides)?;
            }
            self.settle(job, index, case, verdict, &counts, &mut sides);
            if index > 0 && index.is_multiple_of(STEP) {
                eprintln!("at case {index} after {:.0} seconds", self.started.elapsed().as_secs_f64());
            }
        }
        Ok(())
    }

    /// Takes the index of the next case. Returns `None` if there are no more.
    fn take(&self, job: usize) -> Option<u64> {
        let mut state = self.state();
        loop {
            if state.is_stopped || state.given_up[job] || state.tally.failed >= self.settings.failures {
                return None;
            }
            match state.more() {
                More::Yes => break,
                More::Perhaps => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                More::No => return None,
            }
        }
        let index = state.next;
        state.next += 1;
        state.running[job] = Some(Running { index, began: Instant::now(), is_made: false, has_failed: false });
        Some(index)
    }

    /// Counts an index without a case.
    fn is_unfit(&self, job: usize) {
        let mut state = self.state();
        state.unfit += 1;
        if state.unfit > MOST_UNFIT && matches!(state.amount, Amount::Compared { .. }) {
            let unfit = state.unfit;
            state.end(format!("{}: none of {unfit} consecutive cases can run", self.kind.command()));
        }
        state.running[job] = None;
        self.changed.notify_all();
    }

    /// Starts the timer of a case, or of a smaller case during shrinking.
    fn begin(&self, job: usize) {
        let mut state = self.state();
        state.unfit = 0;
        if let Some(running) = &mut state.running[job] {
            (running.began, running.is_made) = (Instant::now(), true);
        }
    }

    /// Runs a case. Restarts the libraries after a panic, because their state is unknown.
    fn examine(
        &self,
        job: usize,
        index: u64,
        case: &K::Case,
        sides: &mut Option<K::Sides>,
    ) -> Result<(Verdict, Counts), String> {
        self.begin(job);
        let mut counts = Counts::default();
        let started = match sides {
            Some(sides) => sides,
            None => sides.insert(self.kind.start().map_err(|error| describe(&error))?),
        };
        let folder = tempfile::tempdir_in(&self.folder).map_err(|error| describe(&error))?;
        let run = Run { index, sides: started, folder: folder.path(), counts: &mut counts };
        match catch_unwind(AssertUnwindSafe(|| self.kind.examine(case, run))) {
            Ok(outcome) => Ok((verdict_of(outcome).map_err(|error| describe(&error))?, counts)),
            Err(panic) => {
                *sides = None;
                Ok((Verdict::Failed(Failure::new(Kind::OurPanic, message(&*panic).to_owned())), Counts::default()))
            }
        }
    }

    /// Counts a case, and prints failed cases.
    fn settle(
        &self,
        job: usize,
        index: u64,
        case: K::Case,
        verdict: Verdict,
        counts: &Counts,
        sides: &mut Option<K::Sides>,
    ) {
        let mut state = self.state();
        if state.given_up[job] {
            // The case has been counted already.
            return;
        }
        let Verdict::Failed(failure) = verdict else {
            if matches!(verdict, Verdict::Agreed { .. } | Verdict::Refused(_)) {
                self.kind.cover(&case, &mut state.tally.coverage);
            }
            state.tally.settle(verdict, counts, self.kind.excused());
            if let Amount::Compared { count, .. } = state.amount
                && state.tally.left_out > count
            {
                state.end(format!("{}: most cases cannot run", self.kind.command()));
            }
            drop(state);
            return self.finish(job);
        };
        state.tally.fail(&failure);
        if let Some(running) = &mut state.running[job] {
            running.has_failed = true;
        }
        drop(state);
        let (case, failure) = self.shrink(job, index, case, failure, sides);
        self.report(index, &self.kind.print(&case, index, failure.question), &failure);
        self.finish(job);
    }

    fn shrink(
        &self,
        job: usize,
        index: u64,
        case: K::Case,
        failure: Failure,
        sides: &mut Option<K::Sides>,
    ) -> (K::Case, Failure) {
        if !self.settings.shrinks || failure.of_index {
            return (case, failure);
        }
        let mut fails = |smaller: &K::Case| match self.examine(job, index, smaller, sides) {
            Ok((Verdict::Failed(failure), _)) if !failure.of_index => Some(failure),
            _ => None,
        };
        let as_it_is = (case.clone(), failure.clone());
        catch_unwind(AssertUnwindSafe(|| self.kind.shrink(case, failure, &mut fails))).unwrap_or(as_it_is)
    }

    pub(super) fn report(&self, index: u64, case: &str, failure: &Failure) {
        let (command, seed) = (self.kind.command(), self.settings.seed);
        println!(
            "\nFAILED ({:?}): replay with `cargo xtask conformance {command} --seed {seed} --case {index}`\n{case}\n{}",
            failure.kind, failure.detail
        );
    }

    fn finish(&self, job: usize) {
        self.state().running[job] = None;
        self.changed.notify_all();
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

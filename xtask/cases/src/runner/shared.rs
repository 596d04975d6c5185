//! What the threads of a run share, and what each of them does.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::kind::CaseKind;
use super::running::Running;
use super::settings::{Amount, Settings};
use crate::tally::{Counts, Tally};
use crate::verdict::{Failure, Kind, Verdict};

/// After so many indices in a row for which there is no case, something is wrong with what the cases are made for.
const MOST_UNFIT: u64 = 10_000;
/// After so many cases a run says how far it is.
const STEP: u64 = 100;

pub(super) struct Shared<K> {
    pub(super) kind: K,
    pub(super) settings: Settings,
    folder: PathBuf,
    started: Instant,
    state: Mutex<State>,
    /// Told of every change of the state.
    pub(super) changed: Condvar,
}

pub(super) struct State {
    amount: Amount,
    next: u64,
    /// Indices in a row without a case.
    unfit: u64,
    /// By thread.
    pub(super) running: Vec<Option<Running>>,
    /// The threads whose case didn't come to an end.
    pub(super) given_up: Vec<bool>,
    pub(super) tally: Tally,
    /// Whether no further case begins.
    pub(super) is_stopped: bool,
    /// Why the run is pointless.
    error: Option<String>,
}

/// Whether a thread gets another case.
enum More {
    Yes,
    /// It depends on what comes of those that are being run.
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
                    // No more than are needed for sure, so that chance doesn't decide which cases are run.
                    compared if compared + running < *count => More::Yes,
                    _ if running > 0 => More::Perhaps,
                    _ => More::No,
                }
            }
        }
    }

    /// Ends the run: it is pointless.
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

    /// What was counted; threads that don't come to an end may still hold all else.
    pub(super) fn into_tally(self: std::sync::Arc<Self>) -> Result<Tally, String> {
        let mut state = self.state();
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut state.tally)),
        }
    }

    /// What a thread does.
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

    /// Takes cases until there are no more.
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
                    let failure = Failure::new(Kind::OurPanic, format!("no case: {}", message(&*panic)));
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
                // An earlier case may have left the process damaged; now it is a new one.
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

    /// The index of a case to run; `None` if there are no more.
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

    /// There is no case of the index that the thread has taken.
    fn is_unfit(&self, job: usize) {
        let mut state = self.state();
        state.unfit += 1;
        if state.unfit > MOST_UNFIT && matches!(state.amount, Amount::Compared { .. }) {
            let unfit = state.unfit;
            state.end(format!("{}: none of {unfit} cases in a row can be carried out", self.kind.command()));
        }
        state.running[job] = None;
        self.changed.notify_all();
    }

    /// The time of a case begins, or that of a smaller one in its place.
    fn begin(&self, job: usize) {
        let mut state = self.state();
        state.unfit = 0;
        if let Some(running) = &mut state.running[job] {
            (running.began, running.is_made) = (Instant::now(), true);
        }
    }

    /// Runs a case. After a panic, which may have left anything behind, the libraries are started anew.
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
        let outcome =
            catch_unwind(AssertUnwindSafe(|| self.kind.examine(case, index, started, &self.folder, &mut counts)));
        match outcome {
            Ok(verdict) => Ok((verdict.map_err(|error| describe(&error))?, counts)),
            Err(panic) => {
                *sides = None;
                Ok((Verdict::Failed(Failure::new(Kind::OurPanic, message(&*panic).to_owned())), Counts::default()))
            }
        }
    }

    /// Counts a case, and prints it if it failed.
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
            // It has been counted.
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
                state.end(format!("{}: most cases can't be carried out", self.kind.command()));
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

    /// Prints a failure.
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

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

fn describe(error: &dyn std::error::Error) -> String {
    crate::ours::describe(error)
}

//! Tests of the runner with numbers as cases, which need no library.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tdb_reference::Error;

use super::{Amount, CaseKind, Settings, run};
use crate::tally::{Counts, Tally};
use crate::verdict::{Failure, Kind, Verdict};

/// The outcome of a number.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Agrees,
    /// Agrees after a delay.
    Slow,
    Excused,
    Fails,
    Panics,
    /// Hangs until the test ends it.
    Hangs,
    /// The library crashes the first time.
    CrashesOnce,
    /// Ends the run.
    Breaks,
    /// There is no case.
    Unfit,
    /// Generating the case panics.
    Unmade,
}

/// A kind of case whose cases are numbers. A function determines the outcome of each number.
struct Numbers {
    fate: fn(u64) -> Fate,
    /// All numbers that ran, including smaller cases.
    seen: Arc<Mutex<Vec<u64>>>,
    /// Number of starts of the libraries.
    starts: Arc<AtomicU64>,
    /// Ends the hanging cases.
    ends: Arc<AtomicBool>,
}

impl Numbers {
    fn new(fate: fn(u64) -> Fate) -> Self {
        Self { fate, seen: Arc::default(), starts: Arc::default(), ends: Arc::default() }
    }
}

fn agreed() -> tdb_reference::Result<Verdict> {
    Ok(Verdict::Agreed { reads: 2, cells: 10, excuses: vec!["a read".to_owned()] })
}

impl CaseKind for Numbers {
    type Case = u64;
    type Sides = ();

    fn command(&self) -> String {
        "numbers".to_owned()
    }

    fn start(&self) -> tdb_reference::Result<()> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn case(&self, index: u64) -> Option<u64> {
        match (self.fate)(index) {
            Fate::Unfit => None,
            Fate::Unmade => panic!("no number"),
            _ => Some(index),
        }
    }

    fn examine(
        &self,
        case: &u64,
        _: u64,
        (): &mut (),
        _: &Path,
        counts: &mut Counts,
    ) -> tdb_reference::Result<Verdict> {
        let mut seen = self.seen.lock().expect("no thread panics here");
        seen.push(*case);
        let times = seen.iter().filter(|seen| *seen == case).count();
        drop(seen);
        counts.add("numbers", 1);
        match (self.fate)(*case) {
            Fate::Slow => {
                thread::sleep(Duration::from_millis(3));
                agreed()
            }
            Fate::Excused => Ok(Verdict::Excused("known".to_owned())),
            Fate::Fails => Ok(Verdict::Failed(Failure::new(Kind::Cells, "differs".to_owned()))),
            Fate::Panics => panic!("number {case}"),
            Fate::Hangs => {
                while !self.ends.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(5));
                }
                agreed()
            }
            Fate::CrashesOnce if times == 1 => {
                Ok(Verdict::Failed(Failure::new(Kind::TheirCrash, "crashed".to_owned())))
            }
            Fate::Breaks => Err(Error::Protocol("broken".to_owned())),
            _ => agreed(),
        }
    }

    fn shrink(
        &self,
        mut case: u64,
        mut failure: Failure,
        fails: &mut dyn FnMut(&u64) -> Option<Failure>,
    ) -> (u64, Failure) {
        while let Some(smaller) = case.checked_sub(1).and_then(|smaller| Some((smaller, fails(&smaller)?))) {
            (case, failure) = smaller;
        }
        (case, failure)
    }

    fn print(&self, case: &u64, _: u64, _: Option<usize>) -> String {
        case.to_string()
    }
}

fn settings(jobs: usize) -> Settings {
    Settings { seed: 1, jobs, failures: 100, shrinks: false, patience: Duration::from_secs(60), prints: false }
}

/// Runs numbers from 0 on. Returns the tally and the numbers that ran.
fn run_all(fate: fn(u64) -> Fate, amount: Amount, settings: &Settings) -> (Result<Tally, String>, BTreeSet<u64>) {
    let numbers = Numbers::new(fate);
    let seen = Arc::clone(&numbers.seen);
    let tally = run(numbers, amount, settings, Path::new("."));
    let seen = seen.lock().expect("no thread panics here").iter().copied().collect();
    (tally, seen)
}

#[test]
fn each_case_is_run_once_by_any_number_of_threads() {
    for jobs in [1, 2, 5] {
        let numbers = Numbers::new(|_| Fate::Agrees);
        let seen = Arc::clone(&numbers.seen);
        let tally = run(numbers, Amount::Indices(3..40), &settings(jobs), Path::new(".")).expect("nothing breaks");
        let mut seen = seen.lock().expect("no thread panics here").clone();
        seen.sort_unstable();
        assert_eq!(seen, (3..40).collect::<Vec<_>>());
        assert_eq!((tally.agreed, tally.failed, tally.reads, tally.cells), (37, 0, 74, 370));
        assert_eq!(tally.counts.get("numbers"), 37);
        assert_eq!(tally.reasons["reads left out, or decided by another read: a read"], 37);
    }
}

#[test]
fn each_outcome_is_counted_as_what_it_is() {
    let fate = |index| match index % 5 {
        0 => Fate::Agrees,
        1 => Fate::Excused,
        2 => Fate::Fails,
        3 => Fate::Panics,
        _ => Fate::Unfit,
    };
    let (tally, _) = run_all(fate, Amount::Indices(0..50), &settings(3));
    let tally = tally.expect("nothing breaks");
    assert_eq!((tally.agreed, tally.left_out, tally.failed, tally.panicked, tally.hung), (10, 10, 20, 10, 0));
    // The counts of failed cases are not added.
    assert_eq!(tally.counts.get("numbers"), 20);
    assert_eq!(tally.reasons["cases left out: known"], 10);
    let summary = tally.summary(&["a line".to_owned()], 1.5);
    let end = "a line\n10 cases agreed, 20 failed (10 by a panic, 0 without coming to an end), 10 left out: 20 reads, \
               100 cells, in 1.5 seconds";
    assert!(summary.ends_with(end), "{summary}");
}

#[test]
fn a_panic_fails_its_case_alone_and_the_libraries_start_anew() {
    let numbers = Numbers::new(|index| if index == 4 { Fate::Panics } else { Fate::Agrees });
    let starts = Arc::clone(&numbers.starts);
    let tally = run(numbers, Amount::Indices(0..10), &settings(1), Path::new(".")).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.panicked), (9, 1, 1));
    assert_eq!(starts.load(Ordering::Relaxed), 2);
}

#[test]
fn a_case_that_cannot_be_made_fails_too() {
    let fate = |index| if index == 2 { Fate::Unmade } else { Fate::Agrees };
    let (tally, _) = run_all(fate, Amount::Indices(0..5), &settings(2));
    let tally = tally.expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.panicked), (4, 1, 1));
}

#[test]
fn a_case_without_end_fails_and_ends_the_run() {
    let numbers = Numbers::new(|index| if index == 1 { Fate::Hangs } else { Fate::Agrees });
    let (ends, seen) = (Arc::clone(&numbers.ends), Arc::clone(&numbers.seen));
    let settings = Settings { patience: Duration::from_millis(100), ..settings(1) };
    let tally = run(numbers, Amount::Indices(0..1000), &settings, Path::new(".")).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.hung), (1, 1, 1));
    // The abandoned thread takes no further case.
    ends.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(*seen.lock().expect("no thread panics here"), [0, 1]);
}

#[test]
fn a_smaller_case_without_end_is_counted_once() {
    // 7 and 6 fail, and shrinking continues down to 5.
    let numbers = Numbers::new(|index| match index {
        6.. => Fate::Fails,
        5 => Fate::Hangs,
        _ => Fate::Agrees,
    });
    let ends = Arc::clone(&numbers.ends);
    let settings = Settings { patience: Duration::from_millis(100), shrinks: true, ..settings(1) };
    let tally = run(numbers, Amount::Indices(7..8), &settings, Path::new(".")).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.hung), (0, 1, 1));
    ends.store(true, Ordering::Relaxed);
}

#[test]
fn failing_cases_are_made_smaller_if_that_is_wanted() {
    let fate = |index| if index >= 10 { Fate::Fails } else { Fate::Agrees };
    let shrinks = Settings { shrinks: true, ..settings(1) };
    let (tally, seen) = run_all(fate, Amount::Indices(30..31), &shrinks);
    assert_eq!(tally.expect("nothing breaks").failed, 1);
    assert_eq!(seen, (9..=30).collect());
    let (tally, seen) = run_all(fate, Amount::Indices(30..31), &settings(1));
    assert_eq!(tally.expect("nothing breaks").failed, 1);
    assert_eq!(seen, BTreeSet::from([30]));
}

#[test]
fn a_panic_can_be_made_smaller_too() {
    let fate = |index| if index >= 10 { Fate::Panics } else { Fate::Agrees };
    let shrinks = Settings { shrinks: true, ..settings(1) };
    let (tally, seen) = run_all(fate, Amount::Indices(13..14), &shrinks);
    let tally = tally.expect("nothing breaks");
    assert_eq!((tally.failed, tally.panicked), (1, 1));
    assert_eq!(seen, (9..=13).collect());
}

#[test]
fn what_the_library_crashes_over_is_asked_again() {
    let fate = |index| if index == 3 { Fate::CrashesOnce } else { Fate::Agrees };
    let (tally, _) = run_all(fate, Amount::Indices(0..5), &settings(1));
    let tally = tally.expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed), (5, 0));
    assert_eq!(tally.reasons["cases run again: the library crashed"], 1);
    assert_eq!(tally.counts.get("numbers"), 5);
}

#[test]
fn enough_failures_end_the_run() {
    let few = Settings { failures: 3, ..settings(1) };
    let (tally, seen) = run_all(|_| Fate::Fails, Amount::Indices(0..1000), &few);
    assert_eq!(tally.expect("nothing breaks").failed, 3);
    assert_eq!(seen, (0..3).collect());
}

#[test]
fn what_is_left_out_is_made_up_for_by_the_same_cases_whatever_the_threads() {
    let fate = |index| match index % 7 {
        0 => Fate::Excused,
        1 | 2 => Fate::Unfit,
        3 => Fate::Fails,
        _ => Fate::Slow,
    };
    let amount = || Amount::Compared { first: 0, count: 30 };
    let (one, alone) = run_all(fate, amount(), &settings(1));
    let one = one.expect("nothing breaks");
    assert_eq!(one.compared(), 30);
    for jobs in [2, 4, 8] {
        let (tally, seen) = run_all(fate, amount(), &settings(jobs));
        let tally = tally.expect("nothing breaks");
        assert_eq!(seen, alone, "{jobs} threads");
        assert_eq!(
            (tally.agreed, tally.failed, tally.left_out, tally.reads),
            (one.agreed, one.failed, one.left_out, one.reads)
        );
    }
}

#[test]
fn a_run_of_nothing_but_cases_that_are_left_out_ends() {
    let (tally, _) = run_all(|_| Fate::Excused, Amount::Compared { first: 0, count: 5 }, &settings(2));
    assert_eq!(tally.expect_err("none is compared"), "numbers: most cases cannot run");
    let (tally, _) = run_all(|_| Fate::Unfit, Amount::Compared { first: 0, count: 5 }, &settings(2));
    assert_eq!(tally.expect_err("there is none"), "numbers: none of 10001 consecutive cases can run");
}

#[test]
fn a_library_that_cannot_go_on_ends_the_run() {
    let fate = |index| if index == 20 { Fate::Breaks } else { Fate::Agrees };
    let (tally, seen) = run_all(fate, Amount::Indices(0..100_000), &settings(2));
    let error = tally.expect_err("the library can't go on");
    assert_eq!(error, "unexpected answer from the process of the reference library: broken");
    assert!(seen.len() < 100_000);
}

#[test]
fn one_case_is_run_alone() {
    let (_, seen) = run_all(|_| Fate::Agrees, Amount::new(Some(81), 400), &settings(2));
    assert_eq!(seen, BTreeSet::from([81]));
    let (_, seen) = run_all(|_| Fate::Agrees, Amount::compared(Some(81), 400), &settings(2));
    assert_eq!(seen, BTreeSet::from([81]));
    let (_, seen) = run_all(|_| Fate::Agrees, Amount::new(None, 4), &settings(2));
    assert_eq!(seen, (0..4).collect());
}

#[test]
fn tallies_add_up() {
    let mut sum = Tally::default();
    for fate in [|_| Fate::Agrees, |_| Fate::Fails, |_| Fate::Excused] as [fn(u64) -> Fate; 3] {
        let (tally, _) = run_all(fate, Amount::Indices(0..4), &settings(2));
        sum.merge(tally.expect("nothing breaks"));
    }
    assert_eq!((sum.agreed, sum.failed, sum.left_out, sum.reads, sum.cells), (4, 4, 4, 8, 40));
    assert_eq!(
        (
            sum.counts.get("numbers"),
            sum.reasons["cases left out: known"],
            sum.reasons["reads left out, or decided by another read: a read"]
        ),
        (8, 4, 4)
    );
    assert_eq!(
        sum.summary(&[], 2.0).lines().last(),
        Some("4 cases agreed, 4 failed, 4 left out: 8 reads, 40 cells, in 2.0 seconds")
    );
}

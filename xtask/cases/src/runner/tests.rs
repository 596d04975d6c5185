//! Tests of the runner with numbers as cases, which need no library.

use std::collections::BTreeSet;
use std::env::temp_dir;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tdb_reference::Error;

use super::{Amount, CaseKind, Run, Settings, run};
use crate::tally::Tally;
use crate::verdict::{End, Failure, Kind, Verdict};

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

fn agreed() -> Verdict {
    Verdict::Agreed { reads: 2, cells: 10, excuses: vec!["a read".to_owned()] }
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

    fn examine(&self, case: &u64, run: Run<'_, ()>) -> Result<Verdict, End> {
        let mut seen = self.seen.lock().expect("no thread panics here");
        seen.push(*case);
        let times = seen.iter().filter(|seen| *seen == case).count();
        drop(seen);
        run.counts.add("numbers", 1);
        match (self.fate)(*case) {
            Fate::Slow => {
                thread::sleep(Duration::from_millis(3));
                Ok(agreed())
            }
            Fate::Excused => Err(End::Excused("known".to_owned())),
            Fate::Fails => Err(Failure::new(Kind::Cells, "differs".to_owned()).into()),
            Fate::Panics => panic!("number {case}"),
            Fate::Hangs => {
                while !self.ends.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(5));
                }
                Ok(agreed())
            }
            Fate::CrashesOnce if times == 1 => Err(Failure::new(Kind::TheirCrash, "crashed".to_owned()).into()),
            Fate::Breaks => Err(Error::Protocol("broken".to_owned()).into()),
            _ => Ok(agreed()),
        }
    }

    fn smaller(&self, case: &u64) -> Vec<u64> {
        case.checked_sub(1).into_iter().collect()
    }

    fn print(&self, case: &u64, _: u64, _: Option<usize>) -> String {
        case.to_string()
    }
}

fn settings(jobs: usize) -> Settings {
    Settings { seed: 1, jobs, failures: 100, shrinks: false, patience: Duration::from_secs(60), prints: false }
}

/// Runs numbers. Returns the tally and the numbers that ran.
fn run_all(fate: fn(u64) -> Fate, amount: Amount, settings: &Settings) -> (Result<Tally, String>, BTreeSet<u64>) {
    let numbers = Numbers::new(fate);
    let seen = Arc::clone(&numbers.seen);
    let tally = run(numbers, amount, settings, &temp_dir());
    let seen = seen.lock().expect("no thread panics here").iter().copied().collect();
    (tally, seen)
}

/// Runs numbers. Returns the tally of a run without an error.
fn tally_of(fate: fn(u64) -> Fate, amount: Amount, settings: &Settings) -> Tally {
    run_all(fate, amount, settings).0.expect("nothing breaks")
}

#[test]
fn each_case_runs_once_for_any_thread_count() {
    for jobs in [1, 2, 5] {
        let numbers = Numbers::new(|_| Fate::Agrees);
        let seen = Arc::clone(&numbers.seen);
        let tally = run(numbers, Amount::Indices(3..40), &settings(jobs), &temp_dir()).expect("nothing breaks");
        let mut seen = seen.lock().expect("no thread panics here").clone();
        seen.sort_unstable();
        assert_eq!(seen, (3..40).collect::<Vec<_>>());
        assert_eq!((tally.agreed, tally.failed, tally.reads, tally.cells), (37, 0, 74, 370));
        assert_eq!(tally.counts.get("numbers"), 37);
        assert_eq!(tally.reasons["reads left out, or compared with another read: a read"], 37);
    }
}

#[test]
fn outcomes_are_counted_by_kind() {
    let fate = |index| match index % 6 {
        0 => Fate::Agrees,
        1 => Fate::Excused,
        2 => Fate::Fails,
        3 => Fate::Panics,
        4 => Fate::Unmade,
        _ => Fate::Unfit,
    };
    let tally = tally_of(fate, Amount::Indices(0..60), &settings(3));
    assert_eq!((tally.agreed, tally.left_out, tally.failed, tally.panicked, tally.hung), (10, 10, 30, 20, 0));
    // The counts of cases that failed or were left out are not added.
    assert_eq!(tally.counts.get("numbers"), 10);
    assert_eq!(tally.reasons["cases left out: known"], 10);
    let summary = tally.summary(&["a line".to_owned()], 1.5);
    let end = "a line\n10 cases agreed, 30 failed (20 panicked, 0 timed out), 10 left out: 20 reads, 100 cells, in \
               1.5 seconds";
    assert!(summary.ends_with(end), "{summary}");
}

#[test]
fn panic_fails_one_case_and_restarts_libraries() {
    let numbers = Numbers::new(|index| if index == 4 { Fate::Panics } else { Fate::Agrees });
    let starts = Arc::clone(&numbers.starts);
    let tally = run(numbers, Amount::Indices(0..10), &settings(1), &temp_dir()).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.panicked), (9, 1, 1));
    assert_eq!(starts.load(Ordering::Relaxed), 2);
}

#[test]
fn timeout_fails_the_case_and_ends_the_run() {
    let numbers = Numbers::new(|index| if index == 1 { Fate::Hangs } else { Fate::Agrees });
    let (ends, seen) = (Arc::clone(&numbers.ends), Arc::clone(&numbers.seen));
    let settings = Settings { patience: Duration::from_millis(100), ..settings(1) };
    let tally = run(numbers, Amount::Indices(0..1000), &settings, &temp_dir()).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.hung), (1, 1, 1));
    // The abandoned thread takes no further case.
    ends.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(*seen.lock().expect("no thread panics here"), [0, 1]);
}

#[test]
fn timeout_during_shrinking_is_counted_once() {
    // 7 and 6 fail, and shrinking continues down to 5.
    let numbers = Numbers::new(|index| match index {
        6.. => Fate::Fails,
        5 => Fate::Hangs,
        _ => Fate::Agrees,
    });
    let ends = Arc::clone(&numbers.ends);
    let settings = Settings { patience: Duration::from_millis(100), shrinks: true, ..settings(1) };
    let tally = run(numbers, Amount::Indices(7..8), &settings, &temp_dir()).expect("nothing breaks");
    assert_eq!((tally.agreed, tally.failed, tally.hung), (0, 1, 1));
    ends.store(true, Ordering::Relaxed);
}

#[test]
fn failures_and_panics_shrink_if_enabled() {
    let fates: [fn(u64) -> Fate; 2] = [
        |index| if index >= 10 { Fate::Fails } else { Fate::Agrees },
        |index| if index >= 10 { Fate::Panics } else { Fate::Agrees },
    ];
    for (panicked, fate) in (0..).zip(fates) {
        for (shrinks, expected) in [(true, (9..=13).collect()), (false, BTreeSet::from([13]))] {
            let (tally, seen) = run_all(fate, Amount::Indices(13..14), &Settings { shrinks, ..settings(1) });
            let tally = tally.expect("nothing breaks");
            assert_eq!((tally.failed, tally.panicked, seen), (1, panicked, expected), "shrinks: {shrinks}");
        }
    }
}

#[test]
fn case_runs_again_after_a_crash() {
    let fate = |index| if index == 3 { Fate::CrashesOnce } else { Fate::Agrees };
    let tally = tally_of(fate, Amount::Indices(0..5), &settings(1));
    assert_eq!((tally.agreed, tally.failed), (5, 0));
    assert_eq!(tally.reasons["cases run again: the library crashed"], 1);
    assert_eq!(tally.counts.get("numbers"), 5);
}

#[test]
fn maximum_of_failures_ends_the_run() {
    let few = Settings { failures: 3, ..settings(1) };
    let (tally, seen) = run_all(|_| Fate::Fails, Amount::Indices(0..1000), &few);
    assert_eq!(tally.expect("nothing breaks").failed, 3);
    assert_eq!(seen, (0..3).collect());
}

#[test]
fn replacements_do_not_depend_on_threads() {
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
fn run_without_comparable_cases_ends() {
    let (tally, _) = run_all(|_| Fate::Excused, Amount::Compared { first: 0, count: 5 }, &settings(2));
    assert_eq!(tally.expect_err("no comparable case"), "numbers: most cases cannot run");
    let (tally, _) = run_all(|_| Fate::Unfit, Amount::Compared { first: 0, count: 5 }, &settings(2));
    assert_eq!(tally.expect_err("no case"), "numbers: none of 10001 consecutive cases can run");
}

#[test]
fn broken_process_ends_the_run() {
    let fate = |index| if index == 20 { Fate::Breaks } else { Fate::Agrees };
    let (tally, seen) = run_all(fate, Amount::Indices(0..100_000), &settings(2));
    let error = tally.expect_err("the library cannot continue");
    assert_eq!(error, "unexpected answer from the process of the reference library: broken");
    assert!(seen.len() < 100_000);
}

#[test]
fn single_case_runs_alone() {
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
        sum.merge(tally_of(fate, Amount::Indices(0..4), &settings(2)));
    }
    assert_eq!((sum.agreed, sum.failed, sum.left_out, sum.reads, sum.cells), (4, 4, 4, 8, 40));
    let reasons = ["cases left out: known", "reads left out, or compared with another read: a read"];
    assert_eq!((sum.counts.get("numbers"), reasons.map(|reason| sum.reasons[reason])), (4, [4, 4]));
    assert_eq!(
        sum.summary(&[], 2.0).lines().last(),
        Some("4 cases agreed, 4 failed, 4 left out: 8 reads, 40 cells, in 2.0 seconds")
    );
}

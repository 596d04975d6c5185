//! Fixtures of arrays and groups are altered, truncated and stripped of files. The tests count the
//! alterations that a verification finds. Verification must never panic, hang, or use unbounded
//! memory.
//!
//! `TDB_CORRUPTIONS` sets the number of alterations. The figures in `docs/internals/reliability.md` come from
//! 120,000. `TDB_CORRUPTIONS_MISSED` prints the alterations that were not found.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tdb_array::tdb_filters::EncryptionKey;
use tdb_corruption::{Cases, Class, Damage, Subject};
use tdb_testkit::allocations::peak_while;
use tdb_types::Limits;
use tdb_verify::Verify;

/// Default number of alterations.
const DEFAULT: usize = 5000;
/// Maximum duration of a verification. Sound fixtures take milliseconds, so a longer run does
/// unneeded work.
const LONG: Duration = Duration::from_secs(5);

/// Results for one class of alterations.
#[derive(Default)]
struct Outcome {
    made: usize,
    found: usize,
    /// Examples of missed alterations.
    missed: Vec<String>,
}

#[derive(Default)]
struct Matrix {
    rows: BTreeMap<Class, Outcome>,
    panicked: Vec<String>,
    slow: Vec<String>,
    large: Vec<String>,
    slowest: Duration,
    peak: u64,
}

impl Matrix {
    fn take(&mut self, subject: &Subject, damage: &Damage) {
        let case = format!("{}: {damage}", subject.name());
        let (found, now) = subject.while_damaged(damage, || (self.verify(subject, &case), subject.now()));
        let row = self.rows.entry(subject.class(damage, &now)).or_default();
        row.made += 1;
        row.found += usize::from(found);
        if !found && row.missed.len() < 400 {
            row.missed.push(case);
        }
    }

    /// Returns `true` if a verification has findings.
    fn verify(&mut self, subject: &Subject, case: &str) -> bool {
        let verify = Verify::new().threads(1).limits(Limits::SMALL);
        let verify = subject.key().into_iter().fold(verify, |verify, key| verify.key(EncryptionKey::new(key)));
        let (mut outcome, mut elapsed) = (None, Duration::ZERO);
        let mut run = || {
            let begun = Instant::now();
            outcome = catch_unwind(AssertUnwindSafe(|| verify.storage(subject.storage()))).ok();
            begun.elapsed()
        };
        let peak = peak_while(|| elapsed = run());
        // Other load may have delayed the first run.
        if elapsed > LONG {
            elapsed = elapsed.min(run());
        }
        self.slowest = self.slowest.max(elapsed);
        self.peak = self.peak.max(peak);
        if elapsed > LONG {
            self.slow.push(format!("{elapsed:?}: {case}"));
        }
        let bytes: usize = subject.files().iter().map(|(_, bytes)| bytes.len()).sum();
        if peak > 2 * Limits::SMALL.tile_bytes + 2 * Limits::SMALL.generic_tile_bytes + 64 * bytes as u64 {
            self.large.push(format!("{peak} bytes: {case}"));
        }
        match outcome {
            None => {
                self.panicked.push(case.to_owned());
                false
            }
            // If all files are gone, programs report neither array nor group.
            Some(Ok(report)) => !report.is_sound() || report.arrays + report.groups == 0,
            // A key that no longer fits also indicates damage.
            Some(Err(_)) => true,
        }
    }
}

#[test]
fn alterations_are_found() {
    let count = std::env::var("TDB_CORRUPTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(DEFAULT);
    let subjects = tdb_corruption::all();
    let groups = subjects.iter().filter(|subject| subject.is_group()).count();
    assert!(subjects.len() > 570 && groups > 18, "{} fixtures, {groups} of groups", subjects.len());
    let mut matrix = Matrix::default();
    for (subject, damage) in Cases::new(&subjects, 14).take(count) {
        matrix.take(subject, &damage);
    }
    print(&matrix, count);
    assert!(matrix.panicked.is_empty(), "panicked: {:#?}", matrix.panicked);
    assert!(matrix.slow.is_empty(), "took long: {:#?}", matrix.slow);
    assert!(matrix.large.is_empty(), "took much memory: {:#?}", matrix.large);
    let goal = matrix.rows.iter().filter(|(class, _)| class.is_promised());
    let (made, found) = goal.fold((0, 0), |(made, found), (_, row)| (made + row.made, found + row.found));
    assert!(made > count / 10, "{made} alterations that can be found");
    assert!(found * 1000 > made * 990, "{found} of {made} alterations were found");
}

fn print(matrix: &Matrix, made: usize) {
    println!("{made} alterations; at most {:?} and {} KiB", matrix.slowest, matrix.peak >> 10);
    println!("| what the alteration changes | made | found | |\n| --- | --- | --- | --- |");
    for (class, row) in &matrix.rows {
        let share = 100.0 * row.found as f64 / row.made as f64;
        println!("| {} | {} | {} | {share:.2} % |", class.text(), row.made, row.found);
    }
    if std::env::var_os("TDB_CORRUPTIONS_MISSED").is_some() {
        for (class, row) in matrix.rows.iter().filter(|(class, _)| **class != Class::Nothing) {
            println!("\n{}:\n    {}", class.text(), row.missed.join("\n    "));
        }
    }
}

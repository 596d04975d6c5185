//! What a run has counted.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::coverage::Coverage;
use super::verdict::{Failure, Kind, Verdict};

/// How often things occurred that one kind of case counts, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    /// How often; zero if never.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, count)| self.add(name, *count));
    }
}

/// Some of what is counted with its reason.
pub const READS_LEFT_OUT: &str = "reads left out, or decided by another read";

/// What came of the cases of a run, of whatever kind they were.
#[derive(Debug, Default)]
pub struct Tally {
    /// Cases in which both sides agree.
    pub agreed: u64,
    /// Cases that the library couldn't do its part of, for a reason that is known.
    pub left_out: u64,
    pub failed: u64,
    /// Of the failed ones, those in which we panicked.
    pub panicked: u64,
    /// Of the failed ones, those that didn't come to an end.
    pub hung: u64,
    pub reads: u64,
    pub cells: u64,
    /// How often a case or a read was left out, or something was refused, by what it was and the reason.
    pub reasons: BTreeMap<String, u64>,
    pub counts: Counts,
    pub coverage: Coverage,
}

impl Tally {
    /// Counts a case that didn't fail, and what it counted; `excused` says what excuses are of.
    pub fn settle(&mut self, verdict: Verdict, counts: &Counts, excused: &str) {
        match verdict {
            Verdict::Agreed { reads, cells, excuses } => {
                self.agreed += 1;
                self.reads += reads;
                self.cells += cells;
                excuses.iter().for_each(|reason| self.count_reason(excused, reason));
            }
            Verdict::Refused(reason) => {
                self.agreed += 1;
                self.count_reason("times refused by both", &reason);
            }
            Verdict::Excused(reason) => {
                self.left_out += 1;
                self.count_reason("cases left out", &reason);
            }
            Verdict::Failed(failure) => return self.fail(&failure),
        }
        self.counts.merge(counts);
    }

    /// Counts a case that failed. What it counted until then is of no worth.
    pub fn fail(&mut self, failure: &Failure) {
        self.failed += 1;
        self.panicked += u64::from(failure.kind == Kind::OurPanic);
        self.hung += u64::from(failure.kind == Kind::NoEnd);
    }

    /// Counts why something came out in another way than that both sides did it.
    pub fn count_reason(&mut self, what: &str, reason: &str) {
        *self.reasons.entry(format!("{what}: {reason}")).or_default() += 1;
    }

    /// Cases that were compared to the end, or failed.
    pub fn compared(&self) -> u64 {
        self.agreed + self.failed
    }

    pub fn merge(&mut self, other: Self) {
        self.agreed += other.agreed;
        self.left_out += other.left_out;
        self.failed += other.failed;
        self.panicked += other.panicked;
        self.hung += other.hung;
        self.reads += other.reads;
        self.cells += other.cells;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.counts.merge(&other.counts);
        self.coverage.merge(other.coverage);
    }

    /// The summary of a run that took so many seconds; `lines` are what its kind of case has to say.
    pub fn summary(&self, lines: &[String], seconds: f64) -> String {
        let mut text = String::new();
        let coverage = self.coverage.text();
        if !coverage.is_empty() {
            let _ = writeln!(text, "\nWhat was covered:\n{coverage}");
        }
        for (reason, count) in &self.reasons {
            let _ = writeln!(text, "{count} {reason}");
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        let _ = write!(text, "{} cases agreed, {} failed", self.agreed, self.failed);
        if self.panicked + self.hung > 0 {
            let _ = write!(text, " ({} by a panic, {} without coming to an end)", self.panicked, self.hung);
        }
        if self.left_out > 0 {
            let _ = write!(text, ", {} left out", self.left_out);
        }
        let _ = write!(text, ": {} reads, {} cells, in {seconds:.1} seconds", self.reads, self.cells);
        text
    }
}

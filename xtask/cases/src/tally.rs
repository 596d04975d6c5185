//! Counts of a run.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::coverage::Coverage;
use super::verdict::{Failure, Kind, Verdict};

/// Counters of a kind of case, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    /// Returns a counter, or zero if the name was never counted.
    pub fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns the counters in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(name, count)| (*name, *count))
    }

    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, count)| self.add(name, *count));
    }
}

/// The default label of excuses in the summary.
pub const READS_LEFT_OUT: &str = "reads left out, or compared with another read";

/// The results of all cases of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Cases in which both sides agree.
    pub agreed: u64,
    /// Cases in which the library failed for a known reason.
    pub left_out: u64,
    pub failed: u64,
    /// Failed cases in which tdb panicked.
    pub panicked: u64,
    /// Failed cases that timed out.
    pub hung: u64,
    pub reads: u64,
    pub cells: u64,
    /// Number of skipped cases, skipped reads and refusals, by label and reason.
    pub reasons: BTreeMap<String, u64>,
    pub counts: Counts,
    pub coverage: Coverage,
}

impl Tally {
    /// Counts a successful case with its counters. `excused` is the label of excuses.
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
                self.count_reason("refused by both", &reason);
            }
            Verdict::Excused(reason) => {
                self.left_out += 1;
                return self.count_reason("cases left out", &reason);
            }
            Verdict::Failed(failure) => return self.fail(&failure),
        }
        self.counts.merge(counts);
    }

    /// Counts a failed case. Its counters are dropped.
    pub fn fail(&mut self, failure: &Failure) {
        self.failed += 1;
        self.panicked += u64::from(failure.kind == Kind::OurPanic);
        self.hung += u64::from(failure.kind == Kind::NoEnd);
    }

    /// Counts a reason for a skip or a refusal.
    pub fn count_reason(&mut self, what: &str, reason: &str) {
        *self.reasons.entry(format!("{what}: {reason}")).or_default() += 1;
    }

    /// Returns the number of cases that were compared or failed.
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

    /// Returns the summary of a run. `lines` are the lines of the kind of case.
    pub fn summary(&self, lines: &[String], seconds: f64) -> String {
        let mut text = String::new();
        let coverage = self.coverage.text();
        if !coverage.is_empty() {
            let _ = writeln!(text, "\nCoverage:\n{coverage}");
        }
        for (reason, count) in &self.reasons {
            let _ = writeln!(text, "{count} {reason}");
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        let _ = write!(text, "{} cases agreed, {} failed", self.agreed, self.failed);
        if self.panicked + self.hung > 0 {
            let _ = write!(text, " ({} panicked, {} timed out)", self.panicked, self.hung);
        }
        if self.left_out > 0 {
            let _ = write!(text, ", {} left out", self.left_out);
        }
        let _ = write!(text, ": {} reads, {} cells, in {seconds:.1} seconds", self.reads, self.cells);
        text
    }
}

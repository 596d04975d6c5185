//! The report of a verification.

use tdb_storage::Counters;

use super::finding::{Finding, FindingKind, Severity};

/// The report of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Number of groups.
    pub groups: u64,
    /// Number of arrays, including the arrays of dimension labels.
    pub arrays: u64,
    /// Number of committed fragments, including superseded fragments.
    pub fragments: u64,
    /// Number of tiles. The tiles of each field count separately.
    pub tiles: u64,
    /// Number of unfiltered cells. The cells of each field count separately.
    pub cells: u64,
    /// Total size of the data files in bytes.
    pub bytes: u64,
    /// I/O counters of the arrays' storages.
    pub counters: Counters,
    /// The findings, in order of discovery.
    pub findings: Vec<Finding>,
}

/// Maximum number of listed findings per fragment, and for an array without its fragments.
const MOST: usize = 1000;

/// Findings about a common subject, up to the maximum number.
#[derive(Debug, Default)]
pub(super) struct Found {
    listed: Vec<Finding>,
    left_out: usize,
    /// The highest severity among unlisted findings. `None` if all findings are listed.
    gravest: Option<Severity>,
}

impl Found {
    pub(super) fn push(&mut self, finding: Finding) {
        match self.listed.len() < MOST {
            true => self.listed.push(finding),
            false => self.leave_out(1, Some(finding.severity)),
        }
    }

    /// Adds the findings about a part of the subject.
    pub(super) fn append(&mut self, part: Self) {
        part.listed.into_iter().for_each(|finding| self.push(finding));
        self.leave_out(part.left_out, part.gravest);
    }

    fn leave_out(&mut self, count: usize, severity: Option<Severity>) {
        self.left_out += count;
        self.gravest = self.gravest.into_iter().chain(severity).min();
    }
}

impl From<Vec<Finding>> for Found {
    fn from(findings: Vec<Finding>) -> Self {
        let mut found = Self::default();
        findings.into_iter().for_each(|finding| found.push(finding));
        found
    }
}

impl VerifyReport {
    /// Returns `true` if the report has no findings except notes.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.wrong().next().is_none()
    }

    /// Returns the numbers of findings and notes.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let notes = self.findings.iter().filter(|finding| finding.severity == Severity::Note).count();
        (self.findings.len() - notes, notes)
    }

    /// Returns the findings that are not notes.
    pub(super) fn wrong(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Finding)
    }

    /// Adds the counts and findings of another report.
    pub fn absorb(&mut self, part: Self) {
        self.groups += part.groups;
        self.arrays += part.arrays;
        self.fragments += part.fragments;
        self.tiles += part.tiles;
        self.cells += part.cells;
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.count(part.counters);
        self.findings.extend(part.findings);
    }

    /// Adds I/O counters.
    pub(super) fn count(&mut self, counters: Counters) {
        self.counters.lists += counters.lists;
        self.counters.opens += counters.opens;
        self.counters.reads += counters.reads;
        self.counters.bytes += counters.bytes;
    }

    pub(super) fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Adds a finding, unless the same finding is already listed.
    pub(super) fn push_new(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Adds findings about a common subject. `file` is the path of the subject.
    pub(super) fn take(&mut self, found: impl Into<Found>, file: &str) {
        let Found { mut listed, left_out, gravest } = found.into();
        if let Some(severity) = gravest {
            let more = Finding::wrong(FindingKind::More, file, format!("{left_out} more findings are not listed"));
            listed.push(Finding { severity, ..more });
        }
        self.findings.append(&mut listed);
    }
}

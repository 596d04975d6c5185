//! What a verification has looked at, and what it has found.

use tdb_storage::Counters;

use super::finding::{Finding, FindingKind, Severity};

/// What a verification has looked at, and what it has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// How many groups were looked at.
    pub groups: u64,
    /// How many arrays, those of dimension labels included.
    pub arrays: u64,
    /// How many committed fragments, those included that others replace.
    pub fragments: u64,
    /// How many tiles of fields.
    pub tiles: u64,
    /// How many cells were unfiltered, counted once for each field.
    pub cells: u64,
    /// Bytes of data files.
    pub bytes: u64,
    /// What was asked of the storages of the arrays.
    pub counters: Counters,
    /// What was found, in the order in which it was met.
    pub findings: Vec<Finding>,
}

/// So many findings are listed of one fragment, or of the rest of an array: where all is wrong, more don't say more.
const MOST: usize = 1000;

/// What was found of one thing: as much as is listed, and how much more there was.
#[derive(Debug, Default)]
pub(super) struct Found {
    listed: Vec<Finding>,
    left_out: usize,
    /// The gravest of what isn't listed.
    gravest: Option<Severity>,
}

impl Found {
    pub(super) fn push(&mut self, finding: Finding) {
        match self.listed.len() < MOST {
            true => self.listed.push(finding),
            false => self.leave_out(1, Some(finding.severity)),
        }
    }

    /// What was found of a part of it.
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
    /// Whether nothing is wrong; there may be notes.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.wrong().next().is_none()
    }

    /// How many findings, and how many notes.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let notes = self.findings.iter().filter(|finding| finding.severity == Severity::Note).count();
        (self.findings.len() - notes, notes)
    }

    /// What isn't a note.
    pub(super) fn wrong(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Finding)
    }

    /// Adds the report on a part.
    pub(super) fn absorb(&mut self, part: Self) {
        self.groups += part.groups;
        self.arrays += part.arrays;
        self.fragments += part.fragments;
        self.tiles += part.tiles;
        self.cells += part.cells;
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.count(part.counters);
        self.findings.extend(part.findings);
    }

    /// Adds what was asked of a storage.
    pub(super) fn count(&mut self, counters: Counters) {
        self.counters.lists += counters.lists;
        self.counters.opens += counters.opens;
        self.counters.reads += counters.reads;
        self.counters.bytes += counters.bytes;
    }

    pub(super) fn push(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// The same of what may have been met before.
    pub(super) fn push_new(&mut self, finding: Finding) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Takes what was found of one thing.
    pub(super) fn take(&mut self, found: impl Into<Found>, file: &str) {
        let Found { mut listed, left_out, gravest } = found.into();
        if let Some(severity) = gravest {
            let more = Finding::wrong(FindingKind::More, file, format!("{left_out} more findings are not listed"));
            listed.push(Finding { severity, ..more });
        }
        self.findings.append(&mut listed);
    }
}

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

impl VerifyReport {
    /// Whether nothing is wrong; there may be notes.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Note)
    }

    /// How many findings, and how many notes.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let notes = self.findings.iter().filter(|finding| finding.severity == Severity::Note).count();
        (self.findings.len() - notes, notes)
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

    /// Takes what was found of one thing.
    pub(super) fn take(&mut self, mut found: Vec<Finding>, file: &str) {
        let left_out = found.len().saturating_sub(MOST);
        if left_out > 0 {
            let last = found.iter().skip(MOST).map(|finding| finding.severity).min().unwrap_or(Severity::Note);
            found.truncate(MOST);
            let more = Finding::wrong(FindingKind::More, file, format!("{left_out} more findings are not listed"));
            found.push(Finding { severity: last, ..more });
        }
        self.findings.append(&mut found);
    }
}

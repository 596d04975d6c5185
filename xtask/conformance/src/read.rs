//! Arrays written by the newest release, and optionally by tdb too, read by both sides.

use std::path::Path;

use tdb_cases::case::{Case, Step, seed_of};
use tdb_cases::coverage::Coverage;
use tdb_cases::runner::CaseKind;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{Failure, Verdict};
use tdb_cases::writer::start;
use tdb_cases::{generate, limits, print, shrink};
use tdb_reference::{NEWEST, RELEASES, Reference, Result};
use tdb_types::FormatVersion;

use super::both_write::{self, Files};
use super::examine::examine;

/// In the short form, tdb also writes one in `WRITTEN` cases.
const WRITTEN: u64 = 10;
/// One in `OLDER` cases by tdb is written in an older format. In the short form, all cases are.
const OLDER: u64 = 5;
/// One in `DISORDERED` cases without tdb as a writer has cells out of global order.
pub const DISORDERED: u64 = 7;
/// One in `REPEATED` cases has a write with equal coordinates.
const REPEATED: u64 = 6;
/// One in `SIMULTANEOUS` cases has writes with the same timestamp.
const SIMULTANEOUS: u64 = 5;

/// The cases that tdb writes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    None,
    /// One in [`WRITTEN`] cases, in an older format if possible.
    Some,
    All,
}

/// The kind of cases of this module.
pub struct Read {
    pub seed: u64,
    pub written: Written,
    /// `true` if questions have conditions.
    pub conditions: bool,
    /// `true` if files are listed that tdb writes differently from the newest release.
    pub names_files: bool,
}

/// An array, and the format version of tdb's copy, if tdb writes one.
#[derive(Clone)]
pub struct ReadCase {
    case: Case,
    version: FormatVersion,
}

impl Read {
    /// `true` if tdb writes the case too.
    fn is_written(&self, index: u64) -> bool {
        match self.written {
            Written::None => false,
            Written::Some => index.is_multiple_of(WRITTEN),
            Written::All => true,
        }
    }

    /// Reduces a case to the features of an older release. Returns the case with that release's
    /// format.
    fn in_older_format(case: &Case, index: u64) -> Option<ReadCase> {
        let release = RELEASES[(index / OLDER) as usize % RELEASES.len()];
        // In the newest release's array an anonymous attribute stays anonymous.
        let fits = |case: &Case| limits::keeps_names(case, release) && limits::footers_can_be_joined(case, release);
        let mut case = limits::fit(case.clone(), release).filter(fits)?;
        // A consolidated fragment keeps more or less history, depending on the format.
        if case.steps.contains(&Step::Consolidate("fragments")) {
            case.questions.iter_mut().for_each(|question| question.query.timestamps = None);
        }
        Some(ReadCase { case, version: FormatVersion::new(release.format).ok()? })
    }
}

impl CaseKind for Read {
    type Case = ReadCase;
    type Sides = Reference;

    fn command(&self) -> String {
        let command = match self.written {
            Written::None if self.conditions => "query",
            Written::None => "read",
            Written::Some => "read --short",
            Written::All => "write",
        };
        command.to_owned()
    }

    fn start(&self) -> Result<Reference> {
        start(NEWEST)
    }

    /// Generates a case. Some are written by tdb in an older format.
    fn case(&self, index: u64) -> Option<ReadCase> {
        let (seed, version) = (seed_of(self.seed, index), FormatVersion::DEFAULT);
        if self.conditions {
            return Some(ReadCase { case: generate::conditioned(seed), version });
        }
        if index.is_multiple_of(DISORDERED) && !self.is_written(index) {
            return Some(ReadCase { case: generate::disordered(seed), version });
        }
        if index % REPEATED == 2 && !self.is_written(index) {
            return Some(ReadCase { case: generate::repeated(seed), version });
        }
        if index % SIMULTANEOUS == 1 && self.written == Written::None {
            return Some(ReadCase { case: generate::simultaneous(seed), version });
        }
        let case = generate::case(seed);
        let chosen = self.is_written(index) && (self.written == Written::Some || index.is_multiple_of(OLDER));
        let older = if chosen { Self::in_older_format(&case, index) } else { None };
        Some(older.unwrap_or(ReadCase { case, version }))
    }

    fn examine(
        &self,
        case: &ReadCase,
        index: u64,
        reference: &mut Reference,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict> {
        if !self.is_written(index) {
            return examine(&case.case, None, reference, folder);
        }
        let mut files = Files::default();
        let verdict = both_write::examine(&case.case, (index, case.version), reference, folder, &mut files)?;
        if self.names_files {
            files.others.iter().for_each(|other| println!("case {index}: {other}"));
        }
        if matches!(verdict, Verdict::Agreed { .. }) {
            files.count(counts);
        }
        Ok(verdict)
    }

    fn shrink(
        &self,
        ReadCase { case, version }: ReadCase,
        failure: Failure,
        fails: &mut dyn FnMut(&ReadCase) -> Option<Failure>,
    ) -> (ReadCase, Failure) {
        let (case, failure) =
            shrink::shrink(case, failure, |smaller| fails(&ReadCase { case: smaller.clone(), version }));
        (ReadCase { case, version }, failure)
    }

    fn print(&self, ReadCase { case, version }: &ReadCase, _: u64, question: Option<usize>) -> String {
        let mut text = print::case(case, question);
        if *version != FormatVersion::DEFAULT {
            text.push_str(&format!("\nours in format {version}"));
        }
        text
    }

    fn cover(&self, case: &ReadCase, coverage: &mut Coverage) {
        coverage.case(&case.case);
    }
}

//! Arrays that the newest release writes, and ours too if asked for, read by both sides.

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

/// Of the short form one case in `WRITTEN` is written by our library too.
const WRITTEN: u64 = 10;
/// Of the cases that our library writes, one in `OLDER` is written in an older format; of the short form all.
const OLDER: u64 = 5;
/// Of the cases that our library doesn't write, one in `DISORDERED` has cells that aren't in the order that they should have.
pub const DISORDERED: u64 = 7;
/// One in `REPEATED` has cells of equal coordinates in one write.
const REPEATED: u64 = 6;
/// And one in `SIMULTANEOUS` has writes at the same time.
const SIMULTANEOUS: u64 = 5;

/// Which cases our library writes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    None,
    /// One case in [`WRITTEN`], in an older format if there is one.
    Some,
    All,
}

/// See the module.
pub struct Read {
    pub seed: u64,
    pub written: Written,
    /// Whether questions have conditions.
    pub conditions: bool,
    /// Whether files are named that our library wrote otherwise than the newest release.
    pub names_files: bool,
}

/// An array, and the format version in which our library writes it, if it does.
#[derive(Clone)]
pub struct ReadCase {
    case: Case,
    version: FormatVersion,
}

impl Read {
    /// Whether our library writes the case too.
    fn is_written(&self, index: u64) -> bool {
        match self.written {
            Written::None => false,
            Written::Some => index.is_multiple_of(WRITTEN),
            Written::All => true,
        }
    }

    /// The case as far as an older release could make it, and that release's format.
    fn in_older_format(case: &Case, index: u64) -> Option<ReadCase> {
        let release = RELEASES[(index / OLDER) as usize % RELEASES.len()];
        // An attribute without a name stays without one in the newest release's array.
        let fits = |case: &Case| limits::keeps_names(case, release) && limits::footers_can_be_joined(case, release);
        let mut case = limits::fit(case.clone(), release).filter(fits)?;
        // How much of the past a consolidated fragment still holds depends on the format.
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

    /// Now and then our library writes in an older format.
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

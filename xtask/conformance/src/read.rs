//! Arrays written by the newest release, and optionally by tdb too, read by both sides.

use tdb_cases::case::{Case, Step, seed_of};
use tdb_cases::coverage::Coverage;
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::shrink::smaller_cases;
use tdb_cases::verdict::{End, Verdict};
use tdb_cases::writer::start;
use tdb_cases::{generate, limits, print};
use tdb_reference::{NEWEST, RELEASES, Reference};
use tdb_types::FormatVersion;

use super::both_write::{self, Files};
use super::examine::examine;

/// In the short form, tdb also writes one in `WRITTEN` cases.
const WRITTEN: u64 = 10;
/// One in `OLDER` cases by tdb is written in an older format. In the short form, all cases are.
const OLDER: u64 = 5;
/// One in `DISORDERED` cases without tdb as a writer has cells out of global order.
pub const DISORDERED: u64 = 7;
/// One in `REPEATED` cases without tdb as a writer has a write with equal coordinates.
const REPEATED: u64 = 6;
/// One in `SIMULTANEOUS` cases of `read` has writes with the same timestamp.
const SIMULTANEOUS: u64 = 5;

/// The manner in which cases are written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Read,
    /// tdb writes one in [`WRITTEN`] cases too, in an older format if possible.
    Short,
    /// Questions have conditions and selections.
    Query,
    /// tdb writes all cases too.
    Write {
        /// `true` if files are listed that tdb writes differently from the newest release.
        names_files: bool,
    },
    /// Alternately the manners `Read`, `Write` and `Query`, on a store.
    Stores,
}

/// The kind of cases of this module.
pub struct Read {
    pub seed: u64,
    pub manner: Manner,
}

/// An array, and the format version of tdb's copy, if tdb writes one.
#[derive(Clone)]
pub struct ReadCase {
    case: Case,
    version: FormatVersion,
}

impl Read {
    /// Returns the manner of a case.
    fn manner(&self, index: u64) -> Manner {
        match (self.manner, index % 3) {
            (Manner::Stores, 0) => Manner::Read,
            (Manner::Stores, 1) => Manner::Write { names_files: false },
            (Manner::Stores, _) => Manner::Query,
            (manner, _) => manner,
        }
    }

    /// `true` if tdb writes the case too.
    fn is_written(&self, index: u64) -> bool {
        match self.manner(index) {
            Manner::Short => index.is_multiple_of(WRITTEN),
            manner => matches!(manner, Manner::Write { .. }),
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
        let command = match self.manner {
            Manner::Read => "read",
            Manner::Short => "read --short",
            Manner::Query => "query",
            Manner::Write { .. } => "write",
            Manner::Stores => "stores",
        };
        command.to_owned()
    }

    fn start(&self) -> tdb_reference::Result<Reference> {
        start(NEWEST)
    }

    /// Generates a case. Some are written by tdb in an older format.
    fn case(&self, index: u64) -> Option<ReadCase> {
        let (seed, version) = (seed_of(self.seed, index), FormatVersion::DEFAULT);
        let manner = self.manner(index);
        let case = match self.is_written(index) {
            false if manner == Manner::Query => generate::conditioned(seed),
            false if index.is_multiple_of(DISORDERED) => generate::disordered(seed),
            false if index % REPEATED == 2 => generate::repeated(seed),
            false if index % SIMULTANEOUS == 1 && manner == Manner::Read => generate::simultaneous(seed),
            false => generate::case(seed),
            true => {
                let case = generate::case(seed);
                let is_older = manner == Manner::Short || index.is_multiple_of(OLDER);
                let older = is_older.then(|| Self::in_older_format(&case, index)).flatten();
                return older.or(Some(ReadCase { case, version }));
            }
        };
        Some(ReadCase { case, version })
    }

    fn examine(&self, ReadCase { case, version }: &ReadCase, run: Run<'_, Reference>) -> Result<Verdict, End> {
        if !self.is_written(run.index) {
            return examine(case, None, run.sides, run.folder);
        }
        let mut files = Files { counts: run.counts, others: Vec::new() };
        let verdict = both_write::examine(case, (run.index, *version), run.sides, run.folder, &mut files)?;
        if self.manner == (Manner::Write { names_files: true }) {
            files.others.iter().for_each(|other| println!("case {}: {other}", run.index));
        }
        Ok(verdict)
    }

    fn smaller(&self, ReadCase { case, version }: &ReadCase) -> Vec<ReadCase> {
        smaller_cases(case).into_iter().map(|case| ReadCase { case, version: *version }).collect()
    }

    fn print(&self, ReadCase { case, version }: &ReadCase, _: u64, question: Option<usize>) -> String {
        let mut text = print::case(case, question);
        if *version != FormatVersion::DEFAULT {
            text.push_str(&format!("\ntdb writes format {version}"));
        }
        text
    }

    fn cover(&self, case: &ReadCase, coverage: &mut Coverage) {
        coverage.case(&case.case);
    }
}

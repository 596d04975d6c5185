//! Arrays written by every release, read by the newest release and by tdb.

use tdb_cases::case::{Case, seed_of};
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::shrink::smaller_cases;
use tdb_cases::tally::Tally;
use tdb_cases::verdict::{End, Verdict, verdict_of};
use tdb_cases::writer::{Writer, start};
use tdb_cases::{generate, limits, print};
use tdb_reference::{Ability, NEWEST, RELEASES, Reference, Release};
use tdb_types::ArrayType;

use super::examine::examine;
use super::read::DISORDERED;

/// Names of counters.
const FRAGMENTS: &str = "fragments";

pub fn row(name: &str, tally: &Tally) -> Vec<(&'static str, String)> {
    let Tally { agreed, reads, cells, left_out, failed, counts, .. } = tally;
    vec![
        ("release", name.to_owned()),
        ("arrays", agreed.to_string()),
        (FRAGMENTS, counts.get(FRAGMENTS).to_string()),
        ("reads", reads.to_string()),
        ("cells", cells.to_string()),
        ("left out", left_out.to_string()),
        ("differences", failed.to_string()),
    ]
}

/// Arrays by one release, within the release's limits. Newer releases may append.
pub struct OfRelease {
    seed: u64,
    writer: Release,
    later_writers: Vec<Release>,
}

impl OfRelease {
    pub fn new(seed: u64, writer: Release, appends: bool) -> Self {
        let later_writers = if appends { later_writers(writer) } else { Vec::new() };
        Self { seed, writer, later_writers }
    }
}

impl CaseKind for OfRelease {
    type Case = Case;
    /// The writer, and the release that reads.
    type Sides = (Writer, Reference);

    fn command(&self) -> String {
        let append = if self.later_writers.is_empty() { "" } else { " --append" };
        format!("releases{append} --only {}", self.writer.library)
    }

    fn start(&self) -> tdb_reference::Result<Self::Sides> {
        let later = self.later_writers.iter().map(|later| Ok((*later, start(later.library)?)));
        let made_by = Writer {
            release: self.writer,
            reference: start(self.writer.library)?,
            later_writers: later.collect::<tdb_reference::Result<_>>()?,
        };
        Ok((made_by, start(reader(&self.later_writers))?))
    }

    fn case(&self, index: u64) -> Option<Case> {
        let (seed, writer, later_writers) = (seed_of(self.seed, index), self.writer, &self.later_writers);
        let is_disordered = later_writers.is_empty() && index.is_multiple_of(DISORDERED);
        let case = if is_disordered { generate::disordered(seed) } else { generate::case(seed) };
        limits::fit(case, writer)
            .and_then(|case| later_writers.iter().try_fold(case, |case, later| limits::fit(case, *later)))
            .filter(|case| later_writers.iter().chain([&writer]).all(|release| limits::can_make_tiles(case, *release)))
            .filter(|case| later_writers.is_empty() || can_be_passed_on(case, writer))
    }

    fn examine(&self, case: &Case, run: Run<'_, Self::Sides>) -> Result<Verdict, End> {
        let (writer, reader) = run.sides;
        Ok(match verdict_of(examine(case, Some(writer), reader, run.folder))? {
            Verdict::Excused(reason) => Verdict::Excused(format!("{reason} (release {})", self.writer.library)),
            verdict => {
                run.counts.add(FRAGMENTS, case.writes().count() as u64);
                verdict
            }
        })
    }

    fn smaller(&self, case: &Case) -> Vec<Case> {
        smaller_cases(case)
    }

    fn print(&self, case: &Case, _: u64, question: Option<usize>) -> String {
        print::case(case, question)
    }
}

/// Returns the newer releases that append to a release's arrays: a release halfway to the newest,
/// and the newest.
///
/// Releases from 2.17 on cannot read coordinates of releases 2.0 to 2.16 in an array of a release
/// before 2.0, and vice versa. Only the last release before 2.17 appends to and reads such arrays.
fn later_writers(writer: Release) -> Vec<Release> {
    if !writer.can(Ability::OwnDimensions) {
        return RELEASES.iter().copied().rfind(|release| !release.can(Ability::Enumerations)).into_iter().collect();
    }
    let newer: Vec<Release> = RELEASES.iter().copied().filter(|release| release.numbers() > writer.numbers()).collect();
    let mut later_writers: Vec<Release> = newer.get(newer.len() / 2).into_iter().chain(newer.last()).copied().collect();
    later_writers.dedup();
    later_writers
}

/// `true` if newer releases append to the array. For releases before 2.0, tests only sparse arrays.
fn can_be_passed_on(case: &Case, writer: Release) -> bool {
    // Releases before 2.0 are incompatible only in coordinates, which dense arrays lack.
    let readable = writer.can(Ability::OwnDimensions) || case.array.array_type == ArrayType::Sparse;
    readable && limits::footers_can_be_joined(case, writer)
}

/// Returns the release that reads the arrays.
fn reader(later_writers: &[Release]) -> &'static str {
    later_writers.last().map_or(NEWEST, |later| later.library)
}

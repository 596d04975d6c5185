//! Arrays in the formats of older releases, written by tdb, and read by the older releases and the
//! newest.
//!
//! Each array is written twice: once with tdb as a writer, and once with the newest release instead
//! of tdb. The newest release must read the same from both arrays. So must the older release, as
//! far as it reads arrays of the newest release.

mod counters;
mod labels;
mod made_twice;
mod metadata_and_groups;

use tdb_cases::case::{Case, seed_of};
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::shrink::smaller_cases;
use tdb_cases::tally::Tally;
use tdb_cases::verdict::{End, Failure, Verdict, verdict_of};
use tdb_cases::{build, generate, limits, overhang, print};
use tdb_reference::{Ability, Release};
use tdb_types::Layout;

use super::by_release::Sides;
use counters::{CREATED, DELETED, FIRST_FORMATS, GROUPS, LABELS, NEITHER, NEWEST, OLDER, PAST, VACUUMED, WRITES};
use made_twice::Share;

/// One in `GROUP` cases also writes a group, if the release supports groups. The case after it also
/// writes an array with dimension labels.
const GROUP: u64 = 4;

/// Returns the headings and cells of a table row.
pub fn row(name: &str, tally: &Tally) -> Vec<(&'static str, String)> {
    let count = |name: &'static str| (name, tally.counts.get(name).to_string());
    let mut row = vec![("release", name.to_owned()), ("arrays", tally.agreed.to_string())];
    row.extend([CREATED, WRITES, FIRST_FORMATS, NEWEST, OLDER].map(count));
    row.push(("cells", tally.cells.to_string()));
    row.push(count(NEITHER));
    row.push(("left out", tally.left_out.to_string()));
    row.push(("differences", tally.failed.to_string()));
    row.extend([GROUPS, LABELS, DELETED, PAST, VACUUMED].map(count));
    row
}

/// Cases in the format of one release.
pub struct OldFormat {
    pub seed: u64,
    pub older: Release,
}

impl CaseKind for OldFormat {
    type Case = Case;
    type Sides = Sides;

    fn command(&self) -> String {
        format!("old-formats --only {}", self.older.library)
    }

    fn start(&self) -> tdb_reference::Result<Sides> {
        Sides::start(self.older)
    }

    /// Generates a case for the release. Returns `None` if the case needs unsupported features.
    fn case(&self, index: u64) -> Option<Case> {
        let mut case = limits::fit(generate::case(seed_of(self.seed, index)), self.older)?;
        if Share::of(index) != Share::All && !limits::footers_can_be_joined(&case, self.older) {
            return None;
        }
        // Older releases crash on tiles that end at or beyond the end of the datatype, each in
        // another way.
        if overhang::is_beyond(&case.array) {
            return None;
        }
        if case.array.cell_order == Layout::Hilbert {
            build::state_extents(&mut case.array);
        }
        Some(case)
    }

    fn examine(&self, case: &Case, run: Run<'_, Sides>) -> Result<Verdict, End> {
        let Run { index, sides, folder, counts } = run;
        let (cells, excuses) = match verdict_of(made_twice::examine(case, index, sides, folder, counts))? {
            Verdict::Agreed { cells, excuses, .. } => (cells, excuses),
            Verdict::Excused(reason) => {
                return Ok(Verdict::Excused(format!("{reason} (release {})", self.older.library)));
            }
            other @ (Verdict::Refused(_) | Verdict::Failed(_)) => return Ok(other),
        };
        let of_index = |failure| Failure { of_index: true, ..failure };
        if index.is_multiple_of(GROUP) && self.older.can(Ability::Groups) {
            metadata_and_groups::group(index, sides, folder).map_err(of_index)?;
            counts.add(GROUPS, 1);
        }
        if index % GROUP == 1 && self.older.can(Ability::Labels) {
            labels::labels(index, sides, folder, counts).map_err(of_index)?;
            counts.add(LABELS, 1);
        }
        Ok(Verdict::Agreed { reads: counts.get(NEWEST), cells, excuses })
    }

    fn smaller(&self, case: &Case) -> Vec<Case> {
        smaller_cases(case)
    }

    fn print(&self, case: &Case, index: u64, question: Option<usize>) -> String {
        format!("{:?}\n{}", Share::of(index), print::case(case, question))
    }
}

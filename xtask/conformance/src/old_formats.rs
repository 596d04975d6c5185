//! Arrays in the formats of older releases, written by tdb, and read by the older releases and the
//! newest.
//!
//! Each array is written twice: once with tdb as a writer, and once with the newest release instead
//! of tdb. The newest release must read the same from both arrays. So must the older release, as
//! far as it reads arrays of the newest release.

mod counted;
mod labels;
mod made_twice;
mod metadata_and_groups;

use std::error::Error;
use std::path::Path;

use tdb_cases::case::{Case, seed_of};
use tdb_cases::runner::{Amount, CaseKind, Settings};
use tdb_cases::tally::{Counts, Tally};
use tdb_cases::verdict::{Failure, Verdict};
use tdb_cases::{build, generate, limits, overhang, print, shrink};
use tdb_reference::{Ability, Release, Result};
use tdb_types::Layout;

use super::by_release::{self, Sides};
use counted::{
    CREATED, DELETED, FIRST_FORMATS, GROUPS, LABELS, NEITHER, NEWEST as BY_NEWEST, OLDER, PAST, VACUUMED, WRITES,
};
use made_twice::Share;

/// One in `GROUP` cases also writes a group, if the release supports groups. The case after it also
/// writes an array with dimension labels.
const GROUP: u64 = 4;

/// Runs cases of every release, or of one, and prints a row for each. Returns the sums over all
/// releases.
///
/// # Errors
/// Fails if a release cannot be started or cannot create its arrays.
pub fn run(
    only: Option<Release>,
    amount: &Amount,
    settings: &Settings,
    folder: &Path,
) -> std::result::Result<Tally, Box<dyn Error>> {
    let kind = |older| OldFormat { seed: settings.seed, older };
    by_release::run((only, kind), row, amount, settings, folder)
}

/// Returns the headings and cells of a table row.
fn row(name: &str, tally: &Tally) -> Vec<(&'static str, String)> {
    let count = |name: &'static str| (name, tally.counts.get(name).to_string());
    let mut row = vec![("release", name.to_owned()), ("arrays", tally.agreed.to_string())];
    row.extend([CREATED, WRITES, FIRST_FORMATS, BY_NEWEST, OLDER].map(count));
    row.push(("cells", tally.cells.to_string()));
    row.push(count(NEITHER));
    row.push(("left out", tally.left_out.to_string()));
    row.push(("differences", tally.failed.to_string()));
    row.extend([GROUPS, LABELS, DELETED, PAST, VACUUMED].map(count));
    row
}

/// Cases in the format of one release.
struct OldFormat {
    seed: u64,
    older: Release,
}

impl CaseKind for OldFormat {
    type Case = Case;
    type Sides = Sides;

    fn command(&self) -> String {
        format!("old-formats --only {}", self.older.library)
    }

    fn start(&self) -> Result<Sides> {
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

    fn examine(
        &self,
        case: &Case,
        index: u64,
        sides: &mut Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict> {
        let mut found = Counts::default();
        let (cells, excuses) = match made_twice::examine(case, index, sides, folder, &mut found)? {
            Verdict::Agreed { cells, excuses, .. } => (cells, excuses),
            Verdict::Excused(reason) => {
                return Ok(Verdict::Excused(format!("{reason} (release {})", self.older.library)));
            }
            other @ (Verdict::Refused(_) | Verdict::Failed(_)) => return Ok(other),
        };
        let more = self.group(index, sides, folder, &mut found);
        if let Err(failure) = more.and_then(|()| self.labels(index, sides, folder, &mut found)) {
            return Ok(Verdict::Failed(Failure { of_index: true, ..failure }));
        }
        counts.merge(&found);
        Ok(Verdict::Agreed { reads: found.get(BY_NEWEST), cells, excuses })
    }

    fn shrink(&self, case: Case, failure: Failure, fails: &mut dyn FnMut(&Case) -> Option<Failure>) -> (Case, Failure) {
        shrink::shrink(case, failure, fails)
    }

    fn print(&self, case: &Case, index: u64, question: Option<usize>) -> String {
        format!("{:?}\n{}", Share::of(index), print::case(case, question))
    }
}

impl OldFormat {
    /// Writes a group in some cases.
    fn group(
        &self,
        index: u64,
        sides: &mut Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> std::result::Result<(), Failure> {
        if !index.is_multiple_of(GROUP) || !self.older.can(Ability::Groups) {
            return Ok(());
        }
        counts.add(GROUPS, 1);
        metadata_and_groups::group(index, sides, folder)
    }

    /// Writes an array with dimension labels in some cases.
    fn labels(
        &self,
        index: u64,
        sides: &mut Sides,
        folder: &Path,
        counts: &mut Counts,
    ) -> std::result::Result<(), Failure> {
        if index % GROUP != 1 || !self.older.can(Ability::Labels) {
            return Ok(());
        }
        let reads = labels::labels(index, sides, folder)?;
        counts.add(LABELS, 1);
        counts.add(BY_NEWEST, reads.newest);
        counts.add(OLDER, reads.older);
        counts.add(NEITHER, reads.neither);
        Ok(())
    }
}

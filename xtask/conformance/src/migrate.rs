//! Arrays of the newest format that are migrated to the formats of older releases, and read by these.
//!
//! Both sides write an array, which ours then migrates. At each time at which something happened to it, the release of the
//! format has to read from the new array what the newest reads from the old one, and so has the newest; and the newest again
//! when the array is migrated back. What we refuse has to be something that the format can't say.

mod counted;
mod made;
mod moved;
mod refusal;
mod run;

use std::error::Error;
use std::path::Path;

use tdb_cases::case::seed_of;
use tdb_cases::history::History;
use tdb_cases::runner::{Amount, CaseKind, Settings};
use tdb_cases::tally::{Counts, Tally};
use tdb_cases::verdict::{Failure, Verdict};
use tdb_reference::{Release, Result};

use super::by_release::{self, Sides};
use super::maintain;
use counted::{ALL_OTHERS, BACK, CHANGED, FLATTENED, MIGRATED, NEITHER, NEWEST as BY_NEWEST, OLDER, REFUSED};
use moved::Moved;

/// Runs cases of every release, or of one; prints a line for each. Gives the sums of all.
///
/// # Errors
///
/// If a release can't be started, or make its arrays.
pub fn run(
    only: Option<Release>,
    amount: &Amount,
    settings: &Settings,
    folder: &Path,
) -> std::result::Result<Tally, Box<dyn Error>> {
    let kind = |older| Migration { seed: settings.seed, older };
    by_release::run((only, kind), row, amount, settings, folder)
}

fn row(name: &str, tally: &Tally) -> Vec<(&'static str, String)> {
    let count = |name: &'static str| (name, tally.counts.get(name).to_string());
    let mut row = vec![("release", name.to_owned())];
    row.extend([MIGRATED, REFUSED, FLATTENED, CHANGED, ALL_OTHERS, OLDER, BY_NEWEST, BACK].map(count));
    row.push(("cells", tally.cells.to_string()));
    row.push(count(NEITHER));
    row.push(("left out", tally.left_out.to_string()));
    row.push(("differences", tally.failed.to_string()));
    row
}

/// Arrays for one release.
struct Migration {
    seed: u64,
    older: Release,
}

impl CaseKind for Migration {
    type Case = Moved;
    type Sides = Sides;

    fn command(&self) -> String {
        format!("migrate --only {}", self.older.library)
    }

    fn start(&self) -> Result<Sides> {
        Sides::start(self.older)
    }

    fn case(&self, index: u64) -> Option<Moved> {
        Moved::of(seed_of(self.seed ^ 0x0310_7a7e, index), index, self.older)
    }

    fn examine(&self, moved: &Moved, _: u64, sides: &mut Sides, folder: &Path, counts: &mut Counts) -> Result<Verdict> {
        run::run(moved, self.older, sides, folder, counts)
    }

    fn shrink(
        &self,
        moved: Moved,
        failure: Failure,
        fails: &mut dyn FnMut(&Moved) -> Option<Failure>,
    ) -> (Moved, Failure) {
        let with = |history: &History| Moved { history: history.clone(), ..moved.clone() };
        let (history, failure) = maintain::shrink(moved.history.clone(), failure, &mut |history| fails(&with(history)));
        (with(&history), failure)
    }

    fn excused(&self) -> &'static str {
        "times known, or rightly refused"
    }

    fn print(&self, moved: &Moved, _: u64, _: Option<usize>) -> String {
        moved.text()
    }
}

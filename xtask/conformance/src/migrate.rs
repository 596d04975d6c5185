//! Arrays of the newest format migrated to the formats of older releases, and read by these
//! releases.
//!
//! Both sides write an array, and tdb migrates it. For each time of an operation, the release of
//! the format must read from the new array the cells that the newest release reads from the
//! original. The newest release must read the same cells from the new array, and also after a
//! migration back. tdb may refuse a migration only if the format cannot represent the array.

mod counters;
mod made;
mod moved;
mod refusal;
mod run;

use tdb_cases::case::seed_of;
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::tally::Tally;
use tdb_cases::verdict::{End, Verdict};
use tdb_reference::Release;

use super::by_release::Sides;
use super::maintain;
use counters::{ALL_OTHERS, BACK, CHANGED, FLATTENED, MIGRATED, NEITHER, NEWEST, OLDER, REFUSED};
use moved::Moved;

pub fn row(name: &str, tally: &Tally) -> Vec<(&'static str, String)> {
    let count = |name: &'static str| (name, tally.counts.get(name).to_string());
    let mut row = vec![("release", name.to_owned())];
    row.extend([MIGRATED, REFUSED, FLATTENED, CHANGED, ALL_OTHERS, OLDER, NEWEST, BACK].map(count));
    row.push(("cells", tally.cells.to_string()));
    row.push(count(NEITHER));
    row.push(("left out", tally.left_out.to_string()));
    row.push(("differences", tally.failed.to_string()));
    row
}

/// Cases for one release.
pub struct Migration {
    pub seed: u64,
    pub older: Release,
}

impl CaseKind for Migration {
    type Case = Moved;
    type Sides = Sides;

    fn command(&self) -> String {
        format!("migrate --only {}", self.older.library)
    }

    fn start(&self) -> tdb_reference::Result<Sides> {
        Sides::start(self.older)
    }

    fn case(&self, index: u64) -> Option<Moved> {
        Moved::of(seed_of(self.seed ^ 0x0310_7a7e, index), index, self.older)
    }

    fn examine(&self, moved: &Moved, run: Run<'_, Sides>) -> Result<Verdict, End> {
        run::run(moved, self.older, run)
    }

    const ATTEMPTS: usize = maintain::ATTEMPTS;

    fn smaller(&self, moved: &Moved) -> Vec<Moved> {
        let smaller = maintain::smaller_histories(&moved.history).into_iter();
        smaller.map(|history| Moved { history, ..moved.clone() }).collect()
    }

    fn excused(&self) -> &'static str {
        "excused, or refused with reason"
    }

    fn print(&self, moved: &Moved, _: u64, _: Option<usize>) -> String {
        moved.text()
    }
}

//! Arrays and groups written and maintained by both sides alternately. After each turn both must
//! read the same at every time, and the same as before the turn.

mod carried;
mod carry_out;
mod defects;
mod groups;
mod meanwhile;
mod names;
mod run;
mod smaller;
mod state;
mod text;
mod twin;

use std::path::Path;

use tdb_cases::case::seed_of;
use tdb_cases::generate;
use tdb_cases::history::{Deed, History};
use tdb_cases::runner::CaseKind;
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{Failure, Kind, Verdict};
use tdb_cases::writer::start;
use tdb_reference::{NEWEST, Reference, Result};

pub use carry_out::{by_them, by_us};
pub use defects::refused;
pub use run::date_schema;
pub use smaller::shrink;
pub use state::{Differing, Window, other_metadata, windows};
pub use text::history as text_of;

/// One in `GROUP` histories maintains a group.
const GROUP: u64 = 4;

/// The kind of cases of this module.
pub struct Maintain {
    pub seed: u64,
}

impl CaseKind for Maintain {
    type Case = History;
    type Sides = Reference;

    fn command(&self) -> String {
        "maintain".to_owned()
    }

    fn start(&self) -> Result<Reference> {
        start(NEWEST)
    }

    fn case(&self, index: u64) -> Option<History> {
        generate::maintained(self.seed_of(index))
    }

    fn examine(
        &self,
        history: &History,
        index: u64,
        reference: &mut Reference,
        folder: &Path,
        counts: &mut Counts,
    ) -> Result<Verdict> {
        let folder = tempfile::tempdir_in(folder)?;
        let verdict = run::run(history, reference, folder.path(), counts)?;
        if !matches!(verdict, Verdict::Failed(_))
            && index.is_multiple_of(GROUP)
            && let Err(detail) = groups::run(self.seed_of(index), reference, folder.path(), counts)
        {
            return Ok(Verdict::Failed(Failure { of_index: true, ..Failure::new(Kind::Changed, detail) }));
        }
        Ok(verdict)
    }

    fn shrink(
        &self,
        history: History,
        failure: Failure,
        fails: &mut dyn FnMut(&History) -> Option<Failure>,
    ) -> (History, Failure) {
        smaller::shrink(history, failure, fails)
    }

    fn excused(&self) -> &'static str {
        "times known"
    }

    fn print(&self, history: &History, _: u64, _: Option<usize>) -> String {
        text::history(history)
    }
}

impl Maintain {
    fn seed_of(&self, index: u64) -> u64 {
        seed_of(self.seed ^ 0x3a17_7a17, index)
    }
}

/// Returns the summary lines.
pub fn lines(counts: &Counts) -> Vec<String> {
    let some = Deed::NAMES.iter().map(|name| (counts.get(name), name)).filter(|(count, _)| *count > 0);
    let deeds: Vec<String> = some.map(|(count, name)| format!("{count} {name}")).collect();
    let [ours, theirs, refused, twins, reads, verified] =
        [run::BY_US, run::BY_THEM, run::REFUSED, run::TWINS, run::READS, run::VERIFIED].map(|name| counts.get(name));
    let [carried, unpaired, tied, lost] =
        [run::CARRIED, run::NOT_PAIRED, run::TIED, run::LOST].map(|name| counts.get(name));
    let [groups, turns] = [groups::GROUPS, groups::TURNS].map(|name| counts.get(name));
    vec![
        deeds.join(", "),
        format!(
            "{ours} turns by tdb, {theirs} by the library, {refused} refused by tdb; {reads} reads of an array by both sides"
        ),
        format!(
            "{twins} purges with the same result as the library's; {verified} arrays verified without a finding; {groups} groups, {turns} turns"
        ),
        format!(
            "{carried} tiles of times and conditions of deletes are the library's byte for byte ({unpaired} consolidations into \
             several fragments of one time weren't compared)"
        ),
        format!(
            "excused: {tied} cells that were written twice at one time, {lost} cells that the library loses with these"
        ),
    ]
}

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

use std::fmt::Write as _;

use tdb_cases::case::seed_of;
use tdb_cases::generate;
use tdb_cases::history::{Deed, History};
use tdb_cases::print;
use tdb_cases::runner::{CaseKind, Run};
use tdb_cases::tally::Counts;
use tdb_cases::verdict::{End, Failure, Verdict};
use tdb_cases::writer::start;
use tdb_reference::{NEWEST, Reference};

pub use carry_out::{by_them, by_us};
pub use defects::refused;
pub use names::names_in;
pub use run::date_schema;
pub use smaller::{ATTEMPTS, smaller_histories};
pub use state::{Differing, Window, other_metadata, windows};

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

    fn start(&self) -> tdb_reference::Result<Reference> {
        start(NEWEST)
    }

    fn case(&self, index: u64) -> Option<History> {
        generate::maintained(self.seed_of(index))
    }

    fn examine(&self, history: &History, mut run: Run<'_, Reference>) -> Result<Verdict, End> {
        let verdict = run::run(history, &mut run)?;
        if run.index.is_multiple_of(GROUP) {
            let of_index = |detail| Failure { of_index: true, ..Failure::changed(detail) };
            groups::run(self.seed_of(run.index), run.sides, run.folder, run.counts).map_err(of_index)?;
        }
        Ok(verdict)
    }

    const ATTEMPTS: usize = smaller::ATTEMPTS;

    fn smaller(&self, history: &History) -> Vec<History> {
        smaller::smaller_histories(history)
    }

    fn excused(&self) -> &'static str {
        "excused"
    }

    fn print(&self, history: &History, _: u64, _: Option<usize>) -> String {
        text_of(history)
    }
}

impl Maintain {
    fn seed_of(&self, index: u64) -> u64 {
        seed_of(self.seed ^ 0x3a17_7a17, index)
    }
}

/// Counters that do not count operations.
const COUNTED: [&str; 12] = [
    run::BY_US,
    run::BY_THEM,
    run::REFUSED,
    run::TWINS,
    run::READS,
    run::VERIFIED,
    run::CARRIED,
    run::NOT_PAIRED,
    run::TIED,
    run::LOST,
    groups::GROUPS,
    groups::TURNS,
];

/// Returns the summary lines.
pub fn lines(counts: &Counts) -> Vec<String> {
    let deeds = counts.iter().filter(|(name, count)| *count > 0 && !COUNTED.contains(name));
    let deeds: Vec<String> = deeds.map(|(name, count)| format!("{count} {name}")).collect();
    let [ours, theirs, refused, twins, reads, verified, carried, unpaired, tied, lost, groups, turns] =
        COUNTED.map(|name| counts.get(name));
    vec![
        deeds.join(", "),
        format!(
            "{ours} turns by tdb, {theirs} by the library, {refused} refused by tdb; {reads} reads of an array by both sides"
        ),
        format!(
            "{twins} purges with the same result as the library's; {verified} arrays verified without a finding; {groups} groups, {turns} turns"
        ),
        format!(
            "{carried} tiles of times and delete conditions are identical to the library's ({unpaired} consolidations into \
             several fragments of one time were not compared)"
        ),
        format!(
            "excused: {tied} cells that were written twice at one time, {lost} other cells of their tiles that the library loses"
        ),
    ]
}

/// Formats the array, followed by at least one line per turn.
pub fn text_of(history: &History) -> String {
    let mut text = print::array(&history.case());
    let _ = writeln!(text, "created by {:?} in format {}", history.creator, history.version);
    for turn in &history.turns {
        let _ = write!(text, "{:?}: ", turn.side);
        match &turn.deed {
            Deed::Step(step) => text.push_str(&print::step(&history.case(), step)),
            deed => drop(writeln!(text, "{deed:?}")),
        }
    }
    text
}

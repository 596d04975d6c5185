//! What we write in the formats of older releases, judged by those releases and by the newest.
//!
//! Each array is made twice: once with us as one of its writers, and once with the newest release in our place. The newest
//! has to read the same from both, and so has the older release, as far as it reads what the newest writes.

mod labels;
mod made_twice;
mod metadata_and_groups;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_types::Layout;

use super::case::{Case, seed_of};
use super::verdict::{Failure, Verdict};
use super::{Arguments, JOB_PATIENCE, create, generate, limits, overhang, print, scratch_folder, shrink};
use made_twice::{Counts, Share, Sides, look};
use tdb_reference::{Ability, NEWEST, RELEASES, Reference, Release, release};

/// Cases of each release, unless told otherwise.
const CASES: u64 = 60;
/// After so many random cases in a row that a release can't carry out, something is wrong with the limits.
const MOST_UNFIT: u64 = 10_000;
/// One case in `GROUPS` brings a group, where the release has them, and the one after it an array with labels.
const GROUPS: u64 = 4;

/// What came of the cases of one release.
#[derive(Default)]
struct Tally {
    arrays: u64,
    excused: u64,
    differences: u64,
    cells: u64,
    counts: Counts,
    /// How often something was left out, by which rule.
    rules: BTreeMap<String, u64>,
}

/// Runs cases of every release, or of one.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let only = arguments.only.as_deref().map(release).transpose()?;
    let (mut all, mut rules) = (Tally::default(), BTreeMap::<String, u64>::new());
    println!("{}", HEADINGS.join(" | "));
    for &older in RELEASES.iter().filter(|release| only.is_none_or(|only| only == **release)) {
        let started = Instant::now();
        let tally = of_release(arguments, older)?;
        println!("{} in {:.1} seconds", tally.row(older.library), started.elapsed().as_secs_f64());
        all.add(&tally);
        for (rule, count) in tally.rules {
            *rules.entry(rule).or_default() += count;
        }
    }
    println!("{}", all.row("all"));
    for (rule, count) in rules {
        println!("{count} left out, or judged by another read: {rule}");
    }
    if all.differences > 0 { Err(format!("{} differences", all.differences).into()) } else { Ok(()) }
}

/// What the columns of the table are.
const HEADINGS: [&str; 15] = [
    "release",
    "arrays",
    "made by ours",
    "writes by ours",
    "reads by 2.30.0",
    "reads by the release",
    "cells",
    "no better of 2.30.0's",
    "left out",
    "differences",
    "groups",
    "arrays with labels",
    "fragments deleted",
    "reads of the past",
    "vacuumed",
];

impl Tally {
    fn row(&self, name: &str) -> String {
        let Counts { created, writes, newest, older, neither, groups, labels, deleted, past, vacuumed } = &self.counts;
        let Self { arrays, excused, differences, cells, .. } = self;
        format!(
            "| {name} | {arrays} | {created} | {writes} | {newest} | {older} | {cells} | {neither} | {excused} | {differences} | {groups} | {labels} | {deleted} | {past} | {vacuumed} |"
        )
    }

    fn add(&mut self, other: &Self) {
        self.arrays += other.arrays;
        self.excused += other.excused;
        self.differences += other.differences;
        self.cells += other.cells;
        self.counts.add(&other.counts);
    }
}

fn of_release(arguments: &Arguments, older: Release) -> Result<Tally, Box<dyn Error>> {
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let mut sides = Sides { older: Reference::start(older.library)?, newest: Reference::start(NEWEST)? };
    for side in [&mut sides.older, &mut sides.newest] {
        for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
            side.config().insert(setting.to_owned(), "1".to_owned());
        }
        side.patience(JOB_PATIENCE);
    }
    let mut run = Run { arguments, older, sides, folder: folder.path(), tally: Tally::default() };
    let wanted = arguments.case.map_or(arguments.cases.unwrap_or(CASES), |_| 1);
    let (mut index, mut unfit) = (arguments.case.unwrap_or(0), 0);
    while run.tally.arrays + run.tally.differences < wanted && run.tally.differences < arguments.failures as u64 {
        match run.case(index) {
            Some(case) => {
                unfit = 0;
                run.judge(case, index)?;
            }
            None => unfit += 1,
        }
        if unfit > MOST_UNFIT || run.tally.excused > wanted {
            return Err(format!("release {} can't make most of its arrays", older.library).into());
        }
        index += 1;
    }
    Ok(run.tally)
}

struct Run<'a> {
    arguments: &'a Arguments,
    older: Release,
    sides: Sides,
    folder: &'a Path,
    tally: Tally,
}

impl Run<'_> {
    /// A case as far as the release can carry it out, if it can.
    fn case(&self, index: u64) -> Option<Case> {
        let mut case = limits::fit(generate::case(seed_of(self.arguments.seed, index)), self.older)?;
        if Share::of(index) != Share::All && !limits::footers_can_be_joined(&case, self.older) {
            return None;
        }
        // Older releases crash in tiles that end with the datatype or beyond, each in its way.
        if overhang::is_beyond(&case.array) {
            return None;
        }
        if case.array.cell_order == Layout::Hilbert {
            create::state_extents(&mut case.array);
        }
        Some(case)
    }

    fn look(&mut self, case: &Case, index: u64, counts: &mut Counts) -> tdb_reference::Result<Verdict> {
        look(case, index, &mut self.sides, self.folder, counts)
    }

    fn judge(&mut self, case: Case, index: u64) -> Result<(), Box<dyn Error>> {
        if self.arguments.case.is_some() {
            println!("{:?}\n{}", Share::of(index), print::case(&case, None));
        }
        let mut counts = Counts::default();
        let mut verdict = self.look(&case, index, &mut counts)?;
        if let Verdict::Agreed { cells, excuses, .. } = verdict {
            verdict = match self.group(index, &mut counts).and_then(|()| self.labels(index, &mut counts)) {
                Ok(()) => Verdict::Agreed { reads: counts.newest, cells, excuses },
                Err(failure) => {
                    self.fail(&case, index, &failure);
                    return Ok(());
                }
            };
        }
        let tally = &mut self.tally;
        match verdict {
            Verdict::Agreed { cells, excuses, .. } => {
                for excuse in excuses {
                    *tally.rules.entry(excuse).or_default() += 1;
                }
                tally.arrays += 1;
                tally.cells += cells;
                tally.counts.add(&counts);
            }
            Verdict::Excused(reason) => {
                *tally.rules.entry(format!("a case of {}: {reason}", self.older.library)).or_default() += 1;
                tally.excused += 1;
            }
            Verdict::Failed(failure) if self.arguments.no_shrink => self.fail(&case, index, &failure),
            Verdict::Failed(failure) => {
                let (case, failure) =
                    shrink::shrink(case, failure, |smaller| match self.look(smaller, index, &mut Counts::default()) {
                        Ok(Verdict::Failed(failure)) => Some(failure),
                        _ => None,
                    });
                self.fail(&case, index, &failure);
            }
        }
        Ok(())
    }

    /// Some cases bring a group.
    fn group(&mut self, index: u64, counts: &mut Counts) -> Result<(), Failure> {
        if !index.is_multiple_of(GROUPS) || !self.older.can(Ability::Groups) {
            return Ok(());
        }
        counts.groups += 1;
        metadata_and_groups::group(index, &mut self.sides, self.folder)
    }

    /// Some cases bring an array with labels.
    fn labels(&mut self, index: u64, counts: &mut Counts) -> Result<(), Failure> {
        if index % GROUPS != 1 || !self.older.can(Ability::Labels) {
            return Ok(());
        }
        let reads = labels::labels(index, &mut self.sides, self.folder)?;
        counts.labels += 1;
        counts.newest += reads.newest;
        counts.older += reads.older;
        counts.neither += reads.neither;
        Ok(())
    }

    fn fail(&mut self, case: &Case, index: u64, failure: &Failure) {
        self.tally.differences += 1;
        println!(
            "\nFAILED ({:?}, {:?}): replay with --write --releases --only {} --seed {} --case {index}\n{}\n{}",
            failure.kind,
            Share::of(index),
            self.older.library,
            self.arguments.seed,
            print::case(case, failure.question),
            failure.detail
        );
    }
}

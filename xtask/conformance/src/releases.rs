//! Arrays by every release, read by the newest and by ours.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tdb_types::ArrayType;

use super::case::{Case, seed_of};
use super::examine::examine;
use super::verdict::{Failure, Verdict};
use super::writer::Writer;
use super::{Arguments, DISORDERED, JOB_PATIENCE, generate, limits, print, scratch_folder, shrink};
use tdb_reference::{Ability, NEWEST, RELEASES, Reference, Release, release};

/// Cases of each release, unless told otherwise.
const CASES: u64 = 100;
/// After so many random cases in a row that a release can't carry out, something is wrong with the limits.
const MOST_UNFIT: u64 = 10_000;

/// What came of the cases of one release.
#[derive(Default)]
struct Tally {
    arrays: u64,
    fragments: u64,
    reads: u64,
    cells: u64,
    excused: u64,
    differences: u64,
    /// How often a read was left out, or judged in another way, by which rule.
    rules: BTreeMap<String, u64>,
}

/// Who makes the arrays, and the newest release.
type Sides = (Writer, Reference);

/// Runs cases by every release, or by one.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let only = arguments.only.as_deref().map(release).transpose()?;
    let folder = tempfile::tempdir_in(scratch_folder())?;
    let (mut differences, mut rules) = (0, BTreeMap::<String, u64>::new());
    println!(
        "{:>8} {:>7} {:>10} {:>7} {:>10} {:>9} {:>12}",
        "release", "arrays", "fragments", "reads", "cells", "left out", "differences"
    );
    for &writer in RELEASES.iter().filter(|release| only.is_none_or(|only| only == **release)) {
        let started = Instant::now();
        let tally = of_release(arguments, writer, folder.path())?;
        let Tally { arrays, fragments, reads, cells, excused, .. } = tally;
        println!(
            "{:>8} {arrays:>7} {fragments:>10} {reads:>7} {cells:>10} {excused:>9} {:>12} in {:.1} seconds",
            writer.library,
            tally.differences,
            started.elapsed().as_secs_f64()
        );
        differences += tally.differences;
        for (rule, count) in tally.rules {
            *rules.entry(rule).or_default() += count;
        }
    }
    for (rule, count) in rules {
        println!("{count} left out, or judged by another read: {rule}");
    }
    if differences > 0 { Err(format!("{differences} differences").into()) } else { Ok(()) }
}

fn of_release(arguments: &Arguments, writer: Release, folder: &Path) -> Result<Tally, Box<dyn Error>> {
    let later_writers = if arguments.append { later_writers(writer) } else { Vec::new() };
    let mut sides = start(writer, &later_writers)?;
    let mut tally = Tally::default();
    let wanted = arguments.case.map_or(arguments.cases.unwrap_or(CASES), |_| 1);
    let (mut index, mut unfit) = (arguments.case.unwrap_or(0), 0);
    while tally.arrays + tally.differences < wanted && tally.differences < arguments.failures as u64 {
        let seed = seed_of(arguments.seed, index);
        let is_disordered = later_writers.is_empty() && index.is_multiple_of(DISORDERED);
        let case = if is_disordered { generate::disordered(seed) } else { generate::case(seed) };
        let case = limits::fit(case, writer)
            .and_then(|case| later_writers.iter().try_fold(case, |case, later| limits::fit(case, *later)))
            .filter(|case| later_writers.iter().chain([&writer]).all(|release| limits::can_make_tiles(case, *release)))
            .filter(|case| later_writers.is_empty() || can_be_passed_on(case, writer));
        index += 1;
        let Some(case) = case else {
            unfit += 1;
            if unfit > MOST_UNFIT {
                return Err(format!("release {} can carry out none of {unfit} cases", writer.library).into());
            }
            continue;
        };
        unfit = 0;
        let verdict = look(&case, &mut sides, folder)?;
        if let Some(failure) = tally.count(&case, writer, verdict) {
            let (case, failure) =
                if arguments.no_shrink { (case, failure) } else { smaller(case, failure, &mut sides, folder) };
            println!(
                "\nFAILED ({:?}): replay with --releases --only {} --seed {} --case {}\n{}\n{}",
                failure.kind,
                writer.library,
                arguments.seed,
                index - 1,
                print::case(&case, failure.question),
                failure.detail
            );
        }
        if tally.excused > wanted {
            return Err(format!("release {} can't make most of its arrays", writer.library).into());
        }
    }
    Ok(tally)
}

/// Starts the release, those that write to its arrays, and the one that says what they hold.
fn start(writer: Release, later_writers: &[Release]) -> Result<Sides, Box<dyn Error>> {
    let started =
        later_writers.iter().map(|later| Reference::start(later.library).map(|reference| (*later, reference)));
    let made_by = Writer {
        release: writer,
        reference: Reference::start(writer.library)?,
        later_writers: started.collect::<tdb_reference::Result<_>>()?,
    };
    let mut sides = (made_by, Reference::start(reader(later_writers))?);
    let Writer { reference, later_writers: appenders, .. } = &mut sides.0;
    for side in appenders.iter_mut().map(|(_, later)| later).chain([reference, &mut sides.1]) {
        for setting in ["sm.compute_concurrency_level", "sm.io_concurrency_level"] {
            side.config().insert(setting.to_owned(), "1".to_owned());
        }
        side.patience(JOB_PATIENCE);
    }
    Ok(sides)
}

impl Tally {
    /// Counts what came of a case; gives the failure, if it is one.
    fn count(&mut self, case: &Case, writer: Release, verdict: Verdict) -> Option<Failure> {
        match verdict {
            Verdict::Agreed { reads, cells, excuses } => {
                for excuse in excuses {
                    *self.rules.entry(excuse).or_default() += 1;
                }
                self.arrays += 1;
                self.fragments += case.writes().count() as u64;
                self.reads += reads;
                self.cells += cells;
                None
            }
            Verdict::Excused(reason) => {
                *self.rules.entry(format!("a case of {}: {reason}", writer.library)).or_default() += 1;
                self.excused += 1;
                None
            }
            Verdict::Failed(failure) => {
                self.differences += 1;
                Some(failure)
            }
        }
    }
}

/// The newer releases that write to a release's arrays: one halfway to the newest, and the newest.
///
/// Releases from 2.17 on read no coordinates that releases 2.0 to 2.16 wrote into an array of before 2.0, and the other way
/// round: to such arrays only the last of those writes, and reads them.
fn later_writers(writer: Release) -> Vec<Release> {
    if !writer.can(Ability::OwnDimensions) {
        return RELEASES.iter().copied().rfind(|release| !release.can(Ability::Enumerations)).into_iter().collect();
    }
    let newer: Vec<Release> = RELEASES.iter().copied().filter(|release| release.numbers() > writer.numbers()).collect();
    let mut later_writers: Vec<Release> = newer.get(newer.len() / 2).into_iter().chain(newer.last()).copied().collect();
    later_writers.dedup();
    later_writers
}

/// Whether newer releases can go on with the array.
fn can_be_passed_on(case: &Case, writer: Release) -> bool {
    // It is the coordinates that differ.
    let readable = writer.can(Ability::OwnDimensions) || case.array.array_type == ArrayType::Sparse;
    readable && limits::footers_can_be_joined(case, writer)
}

/// The release that says what the arrays hold.
fn reader(later_writers: &[Release]) -> &'static str {
    later_writers.last().map_or(NEWEST, |later| later.library)
}

fn look(case: &Case, (writer, newest): &mut Sides, folder: &Path) -> tdb_reference::Result<Verdict> {
    examine(case, Some(writer), newest, folder)
}

fn smaller(case: Case, failure: Failure, sides: &mut Sides, folder: &Path) -> (Case, Failure) {
    shrink::shrink(case, failure, |smaller| match look(smaller, sides, folder) {
        Ok(Verdict::Failed(failure)) => Some(failure),
        _ => None,
    })
}

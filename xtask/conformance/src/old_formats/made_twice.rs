//! One array written twice: with and without tdb.

use std::path::Path;

use tdb_array::TimeRange;
use tdb_cases::case::{Case, Step};
use tdb_cases::compare::difference;
use tdb_cases::defects;
use tdb_cases::ours::{self, Manner, Reading};
use tdb_cases::random::Random;
use tdb_cases::reads::{read_again, settled, with_coordinates};
use tdb_cases::tally::Counts;
use tdb_cases::their_errors::{has_no_end, in_short, their_failure};
use tdb_cases::verdict::{End, Failure, Kind, Verdict, by_us, excuse};
use tdb_cases::writer::{carry_out, set_key};
use tdb_reference::Error;
use tdb_reference::model::ReadResult;
use tdb_types::FormatVersion;

use super::counters::{CREATED, DELETED, FIRST_FORMATS, NEITHER, NEWEST, OLDER, PAST, VACUUMED, WRITES};
use super::metadata_and_groups;
use crate::both_write::{ask, cannot_be_the_same};
use crate::by_release::Sides;
use crate::create;
use crate::examine::compare_facts;

/// The first format version whose new fragments keep the version of the array. The array's release
/// can read these fragments.
const KEPT: u32 = 7;
/// Number of times that the older release must read the newest release's array right before tdb's
/// array is judged wrong.
const PATIENT_READS: usize = 8;

/// For formats below `KEPT`, tdb adds fragments of the newest format in one of `OWN_FORMAT` cases.
const OWN_FORMAT: u64 = 4;

/// Two in `LOSING` cases delete fragments.
const LOSING: u64 = 5;

/// The part of the array that tdb writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// tdb does everything except consolidation.
    All,
    /// The older release creates the array and writes the first half, and tdb writes the rest.
    Second,
    /// tdb creates the array, the older release writes the first half, and tdb writes the rest.
    FirstAndLast,
}

impl Share {
    /// Returns the share of a case, which alternates with the index.
    pub fn of(index: u64) -> Self {
        match index % 3 {
            0 => Self::All,
            1 => Self::Second,
            _ => Self::FirstAndLast,
        }
    }
}

/// Writes the array of a case both ways below `folder`, and reads it with all sides.
///
/// # Errors
/// Fails if the folder cannot be created or a library's process cannot be started.
pub fn examine(case: &Case, index: u64, sides: &mut Sides, folder: &Path, counts: &mut Counts) -> Result<Verdict, End> {
    excuse(cannot_be_the_same(case))?;
    let [theirs, ours] = ["theirs", "ours"].map(|name| folder.join(name).to_string_lossy().into_owned());
    for side in [&mut sides.older, &mut sides.newest] {
        set_key(side, case.encrypted);
    }
    let mut array = Pair { case, index, sides, counts, theirs, ours, excuses: Vec::new() };
    array.make()?;
    let cells = (array.read()? + array.without_some()?) as u64;
    Ok(Verdict::Agreed { reads: array.counts.get(NEWEST), cells, excuses: array.excuses })
}

struct Pair<'a> {
    case: &'a Case,
    index: u64,
    sides: &'a mut Sides,
    counts: &'a mut Counts,
    theirs: String,
    ours: String,
    excuses: Vec<String>,
}

impl Pair<'_> {
    fn make(&mut self) -> Result<(), End> {
        let share = Share::of(self.index);
        let begun = if share == Share::All { 0 } else { self.case.steps.len() / 2 };
        self.create(share)?;
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        for step in &self.case.steps[..begun] {
            for uri in [&theirs, &ours] {
                self.by_older(step, uri)?;
            }
        }
        if !self.is_kept() {
            self.hand_over()?;
        }
        for (number, step) in (0..).zip(&self.case.steps[begun..]) {
            if matches!(step, Step::Consolidate(_) | Step::Vacuum(_)) {
                for uri in [&theirs, &ours] {
                    match self.is_kept() {
                        true => self.by_older(step, uri)?,
                        false => {
                            carry_out(step, &mut self.sides.newest, uri).map_err(|error| self.refused(uri, &error))?
                        }
                    }
                }
                continue;
            }
            match step {
                // The newest release would write its own format.
                _ if self.is_asked_for() => self.by_older(step, &theirs)?,
                // The newest release would write a schema of a newer version, which the older
                // release cannot read. tdb keeps the array's version.
                Step::Evolve(_) => self.by_older(step, &theirs)?,
                _ => carry_out(step, &mut self.sides.newest, &theirs).map_err(|error| self.refused(&theirs, &error))?,
            }
            let mut manner = Manner::by(self.index.wrapping_mul(31).wrapping_add(number));
            if self.is_asked_for() {
                manner.version = Some(self.format()?);
                self.counts.add(FIRST_FORMATS, u64::from(matches!(step, Step::Write(_))));
            }
            by_us(&format!("step {number}"), || ours::carry_out(step, self.case, &ours, manner))?;
            self.counts.add(WRITES, u64::from(matches!(step, Step::Write(_))));
        }
        self.counts.add(VACUUMED, u64::from(self.case.steps.iter().any(|step| matches!(step, Step::Vacuum(_)))));
        let metadata =
            metadata_and_groups::metadata(self.case, self.index, self.sides, [&theirs, &ours], share != Share::All);
        self.counts.add(NEITHER, metadata?);
        Ok(())
    }

    /// `true` if new fragments have the version of the array.
    fn is_kept(&self) -> bool {
        self.sides.older.release().format >= KEPT || self.is_asked_for()
    }

    /// `true` if tdb writes fragments of the array's version, which the newest release no longer
    /// writes. The older release then replaces the newest.
    fn is_asked_for(&self) -> bool {
        self.sides.older.release().format < KEPT && !self.index.is_multiple_of(OWN_FORMAT)
    }

    fn format(&self) -> Result<FormatVersion, Failure> {
        FormatVersion::new(self.sides.older.release().format).map_err(|error| Failure::ours(error.to_string()))
    }

    /// Creates both arrays. Compares the files if tdb created an array.
    fn create(&mut self, share: Share) -> Result<(), End> {
        let older = &mut self.sides.older;
        let made = older.create(&self.theirs, &self.case.array);
        made.map_err(|error| self.refused(&self.theirs, &error))?;
        if share == Share::Second {
            let made = self.sides.older.create(&self.ours, &self.case.array);
            return made.map_err(|error| self.refused(&self.ours, &error));
        }
        let version = self.format()?;
        by_us("create", || ours::create(&self.ours, self.case, version))?;
        let [theirs, ours] = [&self.theirs, &self.ours].map(Path::new);
        create::compare(theirs, ours, self.case.encrypted)
            .map_err(|detail| Failure::new(Kind::Schema, format!("created arrays differ: {detail}")))?;
        self.counts.add(CREATED, 1);
        Ok(())
    }

    fn by_older(&mut self, step: &Step, uri: &str) -> Result<(), End> {
        carry_out(step, &mut self.sides.older, uri).map_err(|error| self.refused(uri, &error))
    }

    /// Classifies a step that a library refuses. After a failure on an array without tdb as a
    /// writer, no comparison is possible.
    fn refused(&self, uri: &str, error: &Error) -> End {
        let known = defects::refusal(self.sides.older.release(), &error.to_string()).map(str::to_owned);
        match known.or_else(|| (uri == self.theirs).then(|| in_short(error, 24))) {
            Some(reason) => Verdict::Excused(reason).into(),
            None => their_failure(self.case, None, error).into(),
        }
    }

    /// Reads both arrays with the older release before fragments of other versions are added. In
    /// some cases also deletes a fragment and reads again.
    fn hand_over(&mut self) -> Result<(), End> {
        self.ask_older_about_both()?;
        if self.loses_fragments() && self.delete_one()? {
            self.ask_older_about_both()?;
        }
        Ok(())
    }

    fn ask_older_about_both(&mut self) -> Result<(), End> {
        for (index, question) in self.case.questions.iter().enumerate() {
            let query = with_coordinates(self.case, question);
            let older = &mut self.sides.older;
            let [theirs, ours] = [&self.theirs, &self.ours].map(|uri| read_again(older, uri, &query).0);
            let Ok(expected) = &theirs else {
                self.counts.add(NEITHER, 1);
                self.excuses.push(self.misreading(&theirs));
                continue;
            };
            self.unlike(index, expected, &ours).map_or(Ok(()), Err)?;
            self.count_older(index);
        }
        Ok(())
    }

    fn count_older(&mut self, question: usize) {
        self.counts.add(OLDER, 1);
        self.counts.add(PAST, u64::from(self.case.questions[question].query.timestamps.is_some()));
    }

    /// `true` if the case deletes fragments. Fragments that were consolidated but not vacuumed are
    /// only deleted by tdb.
    fn loses_fragments(&self) -> bool {
        let gather = |step: &&Step| matches!(step, Step::Consolidate("fragments"));
        let remove = |step: &&Step| matches!(step, Step::Vacuum("fragments"));
        let steps = &self.case.steps;
        self.index % LOSING < 2 && steps.iter().filter(gather).count() == steps.iter().filter(remove).count()
    }

    /// Deletes the fragments in a time range and reads the arrays with all sides. Returns the
    /// number of compared cells.
    fn without_some(&mut self) -> Result<usize, End> {
        let random = &mut Random::new(self.index);
        let times: Vec<u64> = self.case.writes().filter_map(|write| write.timestamp).collect();
        if !self.loses_fragments() || times.is_empty() {
            return Ok(0);
        }
        let (a, b) = (*random.pick(&times), *random.pick(&times));
        let times = (a.min(b), a.max(b));
        if !self.delete([times, times])? { Ok(0) } else { self.read() }
    }

    /// Deletes the same fragment from each array. The fragments may have different times, if they
    /// come from the clock.
    fn delete_one(&mut self) -> Result<bool, End> {
        let open =
            |uri: &str| ours::options(self.case).open(uri).map_err(|error| Failure::ours(ours::describe(&error)));
        let (theirs, ours) = (open(&self.theirs)?, open(&self.ours)?);
        let count = theirs.directory().fragments.len();
        if count == 0 || count != ours.directory().fragments.len() {
            return Ok(false);
        }
        let place = Random::new(self.index).below(count);
        let times = [&theirs, &ours].map(|array| {
            let name = &array.directory().fragments[place].name;
            (name.start(), name.end())
        });
        self.delete(times)
    }

    /// Deletes fragments of a time range from each array: with the newest release from the
    /// library's, with tdb from tdb's. Returns `true` if tdb's array had fragments in the range.
    fn delete(&mut self, times: [(u64, u64); 2]) -> Result<bool, End> {
        let deleted = self.sides.newest.delete_fragments(&self.theirs, times[0]);
        deleted.map_err(|error| self.refused(&self.theirs, &error))?;
        let (start, end) = times[1];
        let count = by_us("delete fragments", || {
            let array = ours::options(self.case).open(&self.ours).map_err(|error| ours::describe(&error))?;
            array.delete_fragments(TimeRange { start, end }).map_err(|error| ours::describe(&error))
        })?;
        self.counts.add(DELETED, count as u64);
        Ok(count > 0)
    }

    /// Describes how the older release misreads an array that tdb has not touched, without names
    /// and numbers.
    fn misreading(&self, theirs: &tdb_reference::Result<ReadResult>) -> String {
        let library = self.sides.older.release().library;
        match theirs {
            Ok(_) => format!("release {library} misreads an array of the newest release"),
            Err(error) => {
                format!("release {library} cannot read an array of the newest release: {}", in_short(error, 24))
            }
        }
    }

    /// Returns the difference between the older release's read of tdb's array and the expected
    /// cells.
    fn unlike(&self, index: usize, expected: &ReadResult, got: &tdb_reference::Result<ReadResult>) -> Option<Failure> {
        let order = settled(self.case, &self.case.questions[index], expected);
        let library = self.sides.older.release().library;
        let (kind, detail) = match got {
            Ok(got) => (Kind::Cells, difference(expected, &Reading::of(got), &order)?),
            Err(error) => (Kind::TheirError, error.to_string()),
        };
        let detail = format!("release {library} reads from the array of tdb: {detail}");
        Some(Failure { question: Some(index), ..Failure::new(kind, detail) })
    }

    /// Compares all reads. Returns the number of compared cells.
    fn read(&mut self) -> Result<usize, End> {
        let (theirs, ours) = (self.theirs.clone(), self.ours.clone());
        compare_facts(self.case, &mut self.sides.newest, &ours, false)?;
        let releases = [self.sides.older.release(), self.sides.newest.release()];
        let mut cells = 0;
        for index in 0..self.case.questions.len() {
            match ask(self.case, index, &releases, &mut self.sides.newest, [&theirs, &ours]) {
                Ok(expected) => {
                    self.counts.add(NEWEST, 1);
                    cells += expected.cells;
                    if self.is_kept() {
                        self.ask_older(index, &expected)?;
                    }
                }
                Err(End::Excused(reason)) => self.excuses.push(reason),
                Err(end) => return Err(end.of_question(index)),
            }
        }
        Ok(cells)
    }

    /// Reads tdb's array with the older release. The read must succeed if the same release reads
    /// the newest release's array right.
    fn ask_older(&mut self, index: usize, expected: &ReadResult) -> Result<(), End> {
        let query = with_coordinates(self.case, &self.case.questions[index]);
        let older = &mut self.sides.older;
        let got = read_again(older, &self.ours, &query).0;
        if let Err(error) = got.as_ref()
            && has_no_end(error)
        {
            return Err(End::Verdict(Verdict::Excused(error.to_string())));
        }
        let Some(failure) = self.unlike(index, expected, &got) else {
            self.count_older(index);
            return Ok(());
        };
        // Reads that depend on uninitialized memory may be right by chance.
        for _ in 0..PATIENT_READS {
            let theirs = read_again(&mut self.sides.older, &self.theirs, &query).0;
            if self.unlike(index, expected, &theirs).is_some() {
                self.counts.add(NEITHER, 1);
                self.excuses.push(self.misreading(&theirs));
                return Ok(());
            }
        }
        Err(failure.into())
    }
}

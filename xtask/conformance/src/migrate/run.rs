//! Creates and migrates an array, and reads the result with the releases.

use std::path::{Path, PathBuf};

use tdb_array::{CreateOptions, TimeRange};
use tdb_cases::build;
use tdb_cases::case::Case;
use tdb_cases::compare::{Settled, difference};
use tdb_cases::history::{Deed, History};
use tdb_cases::ours::{self, Reading, describe};
use tdb_cases::random::Random;
use tdb_cases::runner::Run as Examination;
use tdb_cases::tally::Counts;
use tdb_cases::their_errors::{as_failure, in_short};
use tdb_cases::verdict::{End, Failure, Kind, Verdict, by_us as caught};
use tdb_cases::writer::set_key;
use tdb_job::MaintainError;
use tdb_migrate::{Migrate, Obstacle};
use tdb_reference::model::{MetadataEntry, ReadResult};
use tdb_reference::{Ability, Reference, Release};
use tdb_types::{ArrayType, FormatVersion};

use super::counters::{ALL_OTHERS, BACK, CHANGED, FLATTENED, MIGRATED, NEITHER, NEWEST, OLDER, REFUSED};
use super::made::{self, Moment, Seen};
use super::moved::Moved;
use super::refusal;
use crate::by_release::Sides;
use crate::maintain::{Differing, Window, other_metadata};

/// Number of times that the release must read its own array right before tdb's array is judged
/// wrong.
const PATIENT_READS: usize = 8;

/// The cells and metadata at a time. Metadata only of releases with metadata.
type Read = (ReadResult, Option<Vec<MetadataEntry>>);

const NOW: Window = (0, u64::MAX);

/// A running case.
struct Run<'a> {
    moved: &'a Moved,
    /// The array with its writes, with the schema after the migration.
    case: Case,
    release: Release,
    sides: &'a mut Sides,
    folder: &'a Path,
    /// Reads of the original array by the newest release.
    seen: Vec<Seen>,
    excuses: Vec<String>,
    cells: u64,
}

/// The outcome of a migration.
enum Outcome {
    Written,
    Refused(Vec<Obstacle>),
}

/// Runs a case in a folder.
///
/// # Errors
/// Fails if a library's process cannot be started.
pub(super) fn run(moved: &Moved, release: Release, examination: Examination<'_, Sides>) -> Result<Verdict, End> {
    let Examination { sides, folder, counts, .. } = examination;
    for side in [&mut sides.older, &mut sides.newest] {
        set_key(side, moved.history.encrypted);
    }
    let original = folder.join("original").to_string_lossy().into_owned();
    made::make(&moved.history, &mut sides.newest, &original)?;
    let seen = made::seen(&moved.history, &mut sides.newest, &original);
    let case = Case { array: moved.array(), ..moved.history.case() };
    let mut run = Run { moved, case, release, sides, folder, seen, excuses: Vec::new(), cells: 0 };
    run.all(&original, counts)?;
    Ok(Verdict::Agreed { reads: counts.get(OLDER), cells: run.cells, excuses: run.excuses })
}

impl Run<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn all(&mut self, original: &str, counts: &mut Counts) -> Result<(), Failure> {
        // Without its history, the new array can hold the cells of any time.
        let mut at = NOW;
        if self.moved.flatten && !self.seen.is_empty() {
            at = self.seen[Random::new(self.seen.len() as u64).below(self.seen.len())].window;
            self.seen.retain(|seen| seen.window == at);
        }
        let new = self.path("migrated");
        match self.migrate(&self.moved.migrate(), original, at, &new)? {
            Outcome::Refused(against) => return self.refused(&against, counts),
            Outcome::Written => {}
        }
        counts.add(MIGRATED, 1);
        counts.add(FLATTENED, u64::from(self.moved.flatten));
        counts.add(CHANGED, u64::from(self.moved.change.is_some()));
        counts.add(ALL_OTHERS, u64::from(!self.moved.fits));
        let new = new.to_string_lossy().into_owned();
        self.by_older(&new, counts)?;
        self.by_newest(&new, "reads from the new array", NEWEST, counts)?;
        let back = self.path("back");
        let up = Migrate::new().to(FormatVersion::DEFAULT);
        match self.migrate(&up, &new, NOW, &back)? {
            Outcome::Refused(against) => self.refused(&against, counts),
            Outcome::Written => {
                self.by_newest(&back.to_string_lossy(), "reads from the array migrated back", BACK, counts)
            }
        }
    }

    fn migrate(&self, migrate: &Migrate, from: &str, (_, end): Window, to: &Path) -> Result<Outcome, Failure> {
        let (case, options): (_, CreateOptions) = (&self.case, build::options(self.case.encrypted).1);
        let act = || {
            let times = if end == u64::MAX { TimeRange::ALL } else { TimeRange { start: 0, end } };
            let array = ours::options(case).threads(1).between(times).open(from).map_err(|error| describe(&error))?;
            match migrate.plan(&array) {
                Ok(plan) => {
                    plan.into_folder(to, &options).map_err(|error| describe(&error))?;
                    Ok(Outcome::Written)
                }
                Err(MaintainError::CannotMigrate { against, .. }) => Ok(Outcome::Refused(against)),
                Err(error) => Err(describe(&error)),
            }
        };
        caught("migrate", act)
    }

    fn refused(&mut self, against: &[Obstacle], counts: &mut Counts) -> Result<(), Failure> {
        for obstacle in against {
            let name = refusal::judge(obstacle, self.moved, self.release).map_err(Failure::ours)?;
            self.excuses.push(format!("refused: {name}"));
        }
        counts.add(REFUSED, 1);
        Ok(())
    }

    /// Returns the window in which the new array shows the cells of `seen`.
    fn window(&self, seen: &Seen) -> Window {
        if self.moved.flatten { NOW } else { seen.window }
    }

    /// Reads the new array with the release of its format.
    fn by_older(&mut self, uri: &str, counts: &mut Counts) -> Result<(), Failure> {
        for place in 0..self.seen.len() {
            let window = self.window(&self.seen[place]);
            if let Some(reason) = self.cannot_be_asked(place) {
                self.excuses.push(reason.to_owned());
                continue;
            }
            let got = self.read(uri, window, true);
            let Some(failure) = self.unlike(place, &got) else {
                counts.add(OLDER, 1);
                self.cells += self.seen[place].cells.cells as u64;
                continue;
            };
            let nothing = got.is_ok_and(|(cells, _)| cells.cells == 0);
            if nothing && self.reads_no_strings() {
                self.excuses.push("release 2.0 or 2.1 reads no cells of string dimensions without a range".to_owned());
                continue;
            }
            match self.its_own_is_no_better(place, window) {
                Some(reason) => {
                    counts.add(NEITHER, 1);
                    self.excuses.push(reason);
                }
                None => return Err(told(failure, self.release.library, window, "reads from the new array")),
            }
        }
        Ok(())
    }

    /// Returns why the release cannot be asked at a time, or `None` if it can.
    fn cannot_be_asked(&self, place: usize) -> Option<&'static str> {
        let first = self.case.writes().filter_map(|write| write.timestamp).min();
        let is_before = first.is_none_or(|first| self.seen[place].window.1 < first);
        let is_dense = self.case.array.array_type == ArrayType::Dense;
        (is_dense && is_before && self.release.numbers() < [2, 2, 0])
            .then_some("releases before 2.2 read no cells from dense arrays without fragments")
    }

    /// `true` if the release may return no cells because a string dimension has no range.
    fn reads_no_strings(&self) -> bool {
        let has_strings = self.case.array.dimensions.iter().any(|dimension| dimension.domain.is_none());
        has_strings && self.release.numbers() < [2, 2, 0]
    }

    fn by_newest(&mut self, uri: &str, what: &str, count: &'static str, counts: &mut Counts) -> Result<(), Failure> {
        for place in 0..self.seen.len() {
            let window = self.window(&self.seen[place]);
            let got = self.read(uri, window, false);
            if let Some(failure) = self.unlike(place, &got) {
                return Err(told(failure, tdb_reference::NEWEST, window, what));
            }
            counts.add(count, 1);
        }
        Ok(())
    }

    /// Reads the array at a time with a release. Reads metadata if the older release supports it.
    fn read(&mut self, uri: &str, window: Window, older: bool) -> tdb_reference::Result<Read> {
        let side: &mut Reference = if older { &mut self.sides.older } else { &mut self.sides.newest };
        let unordered = made::is_ordered_otherwise(&self.case, side);
        let cells = made::read(side, &Moment { case: &self.case, uri, window, unordered })?;
        let knows = self.release.can(Ability::Metadata);
        let metadata = knows.then(|| side.metadata(uri, (window != NOW).then_some(window))).transpose()?;
        Ok((cells, metadata))
    }

    /// Compares a read with that of the newest release before the migration.
    fn unlike(&self, place: usize, got: &tdb_reference::Result<Read>) -> Option<Failure> {
        let seen = &self.seen[place];
        let (cells, metadata) = match got {
            Ok(got) => got,
            Err(error) => return Some(as_failure(None, error)),
        };
        let is_sparse = self.case.array.array_type == ArrayType::Sparse;
        let order = if is_sparse { Settled::Nothing } else { Settled::Fully };
        let detail = difference(&seen.cells, &Reading::of(cells), &order);
        let detail = detail.filter(|_| !self.is_purged(seen, cells));
        let detail = detail.or_else(|| other_metadata(&seen.metadata, metadata.as_ref()?));
        detail.map(|detail| Failure::new(Kind::Cells, detail))
    }

    /// `true` if a read of the past differs only by purged cells. The migration copies existing
    /// source fragments of consolidated fragments, and purged cells reappear in the past.
    fn is_purged(&self, seen: &Seen, got: &ReadResult) -> bool {
        let purges = |deed: &Deed| matches!(deed, Deed::Join(join) if join.purge);
        let is_past = seen.window != NOW && self.moved.history.turns.iter().any(|turn| purges(&turn.deed));
        is_past && Differing::of(&self.case, got, &seen.cells).gained.is_empty()
    }

    /// Returns why the release is unreliable: the release misreads the same array even if tdb was
    /// not a writer.
    fn its_own_is_no_better(&mut self, place: usize, window: Window) -> Option<String> {
        if self.is_cut(window) && self.release.numbers() < [2, 0, 0] {
            return Some("releases before 2.0 show fragments of a time range from its start on".to_owned());
        }
        // The first releases cannot write at a given time.
        let knows_times = self.release.can(Ability::WriteTimes);
        let (name, window) = match knows_times {
            true => ("twin".to_owned(), window),
            false => (format!("twin {place}"), NOW),
        };
        let twin = self.path(&name).to_string_lossy().into_owned();
        if !Path::new(&twin).exists() {
            let history = History { array: self.case.array.clone(), ..self.moved.history.clone() };
            let Sides { older, newest } = &mut *self.sides;
            made::twin(&history, self.seen[place].window.1, (older, newest), &twin).ok()?;
        }
        let library = self.release.library;
        // Reads that depend on uninitialized memory may be right by chance.
        for _ in 0..PATIENT_READS {
            let got = self.read(&twin, window, true);
            if self.unlike(place, &got).is_some() {
                return Some(match got {
                    Ok(_) => format!("release {library} misreads its own array"),
                    Err(error) => format!("release {library} cannot read its own array: {}", in_short(&error, 16)),
                });
            }
        }
        None
    }

    /// `true` if the end of a window is within the time range of a fragment of the new array.
    fn is_cut(&self, (_, end): Window) -> bool {
        let array = ours::options(&self.case).threads(1).between(TimeRange::ALL).open(self.path("migrated"));
        array.is_ok_and(|array| {
            array.directory().fragments.iter().any(|entry| entry.name.start() <= end && end < entry.name.end())
        })
    }
}

fn told(failure: Failure, library: &str, window: Window, what: &str) -> Failure {
    Failure { detail: format!("release {library} {what} in {window:?}: {}", failure.detail), ..failure }
}

//! Runs a history of operations, and compares the reads of tdb and the library after each turn.

use std::fs;
use std::path::Path;

use tdb_cases::case::{Case, Step};
use tdb_cases::history::{Deed, History, Side, Small, Turn};
use tdb_cases::ours;
use tdb_cases::runner::Run as Examination;
use tdb_cases::tally::Counts;
use tdb_cases::their_errors::{self, as_failure, their_failure};
use tdb_cases::verdict::{End, Failure, Kind, Verdict, by_us as caught, excuse};
use tdb_cases::writer::set_key;
use tdb_reference::{Error, Reference};
use tdb_types::{Feature, TimestampedName};
use tdb_verify::Severity;

use super::carried::{self, Carried};
use super::carry_out::{Done, by_them};
use super::defects::Misread;
use super::names::names_in;
use super::state::{
    Compared, Counted, Differing, State, Ties, Window, compare, counted, other_cells, other_metadata, our_view, windows,
};
use super::{defects, meanwhile};
use crate::facts::compare_fragments;

/// Names of counters, in addition to the names of deeds.
pub const READS: &str = "windows read by both sides";
pub const REFUSED: &str = "turns refused by tdb";
pub const BY_US: &str = "turns by tdb";
pub const BY_THEM: &str = "turns by the library";
pub const TWINS: &str = "purges by both sides";
pub const CARRIED: &str = "tiles of times and conditions with the same bytes on both sides";
pub const NOT_PAIRED: &str = "consolidations into several fragments of one time, not compared";
pub const TIED: &str = "cells written twice at one time that the library resolves differently";
pub const LOST: &str = "other cells that the library loses from the same tiles";
pub const VERIFIED: &str = "arrays verified";

/// A running history.
struct Run<'a> {
    history: &'a History,
    case: Case,
    reference: &'a mut Reference,
    uri: String,
    folder: &'a Path,
    windows: Vec<Window>,
    ties: Ties,
    /// Number of excused cells: cells with two writes at one time, and other cells that the library
    /// lost.
    misread: (u64, u64),
    state: State,
    excuses: Vec<String>,
    reads: u64,
    cells: u64,
    /// The reason why later reads of both sides may differ, if any.
    tainted: Option<&'static str>,
    /// Names of the metadata vacuum files before the turn, without `.vac`.
    replaced_metadata: Vec<TimestampedName>,
    /// Time ranges in which the library has deleted fragments.
    deleted: Vec<Window>,
}

/// Runs a history in a folder.
///
/// # Errors
/// Returns the failure of a turn or of the final verification. Fails if the library's process
/// cannot continue.
pub fn run(history: &History, examination: &mut Examination<'_, Reference>) -> Result<Verdict, End> {
    let Examination { sides: reference, folder, counts, .. } = examination;
    let case = history.case();
    let uri = folder.join("array").to_string_lossy().into_owned();
    set_key(reference, history.encrypted);
    match history.creator {
        Side::Ours => caught("create", || ours::create(&uri, &case, history.version))?,
        Side::Theirs => {
            if let Err(error) = reference.create(&uri, &history.array) {
                return Ok(match error {
                    Error::Library(_) => Verdict::Excused("refuses to create the array".to_owned()),
                    error => their_failure(&case, None, &error),
                });
            }
        }
    }
    date_schema(Path::new(&uri), history)?;
    let mut run = Run {
        history,
        case,
        reference,
        uri,
        folder,
        windows: windows(history),
        ties: Ties::default(),
        misread: (0, 0),
        state: State::new(),
        excuses: Vec::new(),
        reads: 0,
        cells: 0,
        tainted: None,
        replaced_metadata: Vec::new(),
        deleted: Vec::new(),
    };
    for (number, turn) in (0..).zip(&history.turns) {
        match run.turn(number, turn, counts) {
            Ok(()) => {}
            // The array may be damaged, or a read does not terminate. Skips the remaining turns.
            Err(End::Excused(reason)) => {
                run.excuse(&reason);
                return Ok(run.agreed());
            }
            Err(End::Verdict(Verdict::Failed(failure))) => {
                let detail = format!("turn {number}, {} by {:?}: {}", turn.deed.name(), turn.side, failure.detail);
                return Err(Failure { detail, ..failure }.into());
            }
            Err(end) => return Err(end),
        }
    }
    run.verify()?;
    counts.add(VERIFIED, 1);
    Ok(run.agreed())
}

/// Sets the time of the first schema to before all operations. Evolved schemas must be newer.
pub fn date_schema(array: &Path, history: &History) -> tdb_reference::Result<()> {
    let time = windows(history).first().map_or(1, |(_, end)| end.saturating_sub(1));
    let Ok(entries) = fs::read_dir(array.join("__schema")) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(uuid) = TimestampedName::parse(&name).and_then(|_| name.splitn(5, '_').nth(4)) {
            fs::rename(entry.path(), array.join(format!("__schema/__{time}_{time}_{uuid}")))?;
        }
    }
    Ok(())
}

impl Run<'_> {
    fn agreed(self) -> Verdict {
        Verdict::Agreed { reads: self.reads, cells: self.cells, excuses: self.excuses }
    }

    fn excuse(&mut self, reason: &str) {
        self.excuses.push(reason.to_owned());
    }

    fn excuse_cells(&mut self, misread: Misread) {
        self.excuse(misread.why);
        self.misread = (self.misread.0 + misread.tied, self.misread.1 + misread.lost);
    }

    fn turn(&mut self, number: u64, turn: &Turn, counts: &mut Counts) -> Result<(), End> {
        let before = self.counted()?;
        self.replaced_metadata = names_in(&Path::new(&self.uri).join("__meta"), ".vac");
        let (uri, history) = (self.uri.clone(), self.history);
        let is_done = match turn.side {
            Side::Ours => {
                let twin = twin_of(history, turn, &uri, self.folder);
                match caught("ours", || meanwhile::by_us(history, turn, &uri, number.wrapping_mul(7)))? {
                    Done::Done => {
                        counts.add(BY_US, 1);
                        if let Some(twin) = twin {
                            self.compare_twin(turn, &twin, &before, counts)?;
                        }
                        true
                    }
                    Done::Refused(why) => {
                        counts.add(REFUSED, 1);
                        self.excuse(&format!("tdb refuses the operation: {why}"));
                        false
                    }
                }
            }
            Side::Theirs => match by_them(history, turn, self.reference, &uri) {
                Ok(()) => {
                    counts.add(BY_THEM, 1);
                    true
                }
                Err(error) => {
                    self.their_refusal(turn, &error)?;
                    false
                }
            },
        };
        counts.add(turn.deed.name(), u64::from(is_done));
        let after = self.counted()?;
        if let (true, Deed::Step(Step::Write(write))) = (is_done, &turn.deed) {
            self.ties.add(&self.case, write);
        }
        if let Deed::DeleteFragments(start, end) = turn.deed {
            self.ties.keep(&after);
            self.deleted.extend((is_done && turn.side == Side::Theirs).then_some((start, end)));
        }
        if let Some(reason) = (turn.side == Side::Theirs && is_done)
            .then(|| defects::changed_by(history, turn, &before, &after))
            .flatten()
        {
            self.tainted = self.tainted.or(Some(reason));
        }
        let fresh = self.look(counts)?;
        self.compare_with_before(turn, is_done, &fresh, (&before, &after))?;
        let (tied, lost) = std::mem::take(&mut self.misread);
        counts.add(TIED, tied);
        counts.add(LOST, lost);
        self.state = fresh;
        self.compare_fragments()
    }

    fn counted(&self) -> Result<Vec<Counted>, End> {
        Ok(counted(&self.case, &self.uri).map_err(Failure::ours)?)
    }

    /// Classifies a failure of the library. Returns `Ok` if it is known and harmless.
    fn their_refusal(&mut self, turn: &Turn, error: &tdb_reference::Error) -> Result<(), End> {
        let message = error.to_string();
        let known =
            defects::refused(&message).or_else(|| defects::misplaces_footers(self.history, Path::new(&self.uri)));
        match known.map(str::to_owned).or_else(|| their_errors::excuse(&self.case, None, error)) {
            // A crash may leave a broken array. Only SIGFPE occurs before the first write.
            Some(reason) if matches!(error, Error::Library(_)) || message.contains("SIGFPE") => {
                self.excuse(&reason);
                Ok(())
            }
            Some(reason) => Err(End::Excused(reason)),
            None => {
                let detail = format!("{}: {message}", turn.deed.name());
                Err(Failure { detail, ..as_failure(None, error) }.into())
            }
        }
    }

    /// Reads all windows with both sides.
    fn look(&mut self, counts: &mut Counts) -> Result<State, End> {
        let mut state = State::new();
        for window in self.windows.clone() {
            let seen = caught("read", || Ok(our_view(&self.case, &self.uri, window)))?;
            self.judge(&seen, window)?;
            self.reads += 1;
            counts.add(READS, 1);
            self.cells += seen.as_ref().map_or(0, |seen| seen.cells.cells as u64);
            state.insert(window, seen);
        }
        Ok(state)
    }

    fn judge(&mut self, seen: &Result<super::state::Seen, String>, window: Window) -> Result<(), End> {
        let at = |detail: String| format!("in the window {window:?}: {detail}");
        let (kind, detail) = match compare(&self.case, seen, self.reference, &self.uri, window) {
            Compared::Same => return Ok(()),
            Compared::Cells(detail, differing) => {
                if let Some(misread) = defects::misread(&self.case, &self.ties, window, &differing) {
                    self.excuse_cells(misread);
                    return Ok(());
                }
                (Kind::Cells, detail)
            }
            Compared::TheirError(error) if error.contains("was stopped after") => {
                // The other windows would take as long.
                return excuse(Some("a read does not terminate"));
            }
            Compared::TheirError(error) => {
                let known = defects::refused(&error)
                    .or_else(|| defects::misplaces_footers(self.history, Path::new(&self.uri)))
                    .or_else(|| tdb_cases::defects::explanation(&self.case, None, &error));
                if let Some(reason) = known {
                    self.excuse(reason);
                    return Ok(());
                }
                (Kind::TheirError, error)
            }
            Compared::Metadata(detail) => (Kind::Changed, detail),
            Compared::OurError(detail) => (Kind::OurError, detail),
        };
        excuse(self.tainted)?;
        Err(Failure::new(kind, at(detail)).into())
    }

    /// Compares each window with its state before the turn.
    fn compare_with_before(
        &mut self,
        turn: &Turn,
        is_done: bool,
        fresh: &State,
        (before, after): (&[Counted], &[Counted]),
    ) -> Result<(), End> {
        let purges = matches!(&turn.deed, Deed::Join(join) if join.purge) && is_done;
        for (window, seen) in fresh {
            let Some(old) = self.state.get(window) else { continue };
            if !self.stays(turn, is_done, *window) {
                continue;
            }
            let (Ok(old), Ok(new)) = (old, seen) else {
                if old.is_err() == seen.is_err() {
                    continue;
                }
                let detail = format!("in the window {window:?}: before {old:?}, after {seen:?}");
                return Err(Failure::changed(detail).into());
            };
            let cells = other_cells(&self.case, &old.cells, &new.cells);
            let differing = cells.as_ref().map(|_| Differing::of(&self.case, &old.cells, &new.cells));
            // A purge also removes deleted cells from windows that end before the delete.
            let is_purged =
                purges && window.1 != u64::MAX && differing.as_ref().is_some_and(|cells| cells.gained.is_empty());
            let detail = cells.filter(|_| !is_purged).or_else(|| other_metadata(&old.metadata, &new.metadata));
            let Some(detail) = detail else { continue };
            if matches!(turn.deed, Deed::Join(_)) && defects::was_timeless(self.history, before, after, *window) {
                self.excuse(
                    "dates cells by the start of a fragment that was consolidated in a format before 15, as tdb does",
                );
                continue;
            }
            let is_theirs = turn.side == Side::Theirs;
            // In windows that end now, other cells must replace all lost cells.
            let back = differing
                .as_ref()
                .filter(|cells| is_theirs && is_done && (window.1 != u64::MAX || cells.lost.is_subset(&cells.gained)));
            let back =
                back.and_then(|cells| defects::brings_back(self.history, turn, (before, after), (&self.ties, cells)));
            if let Some(reason) = back {
                self.excuse(reason);
                continue;
            }
            excuse(is_theirs.then(|| defects::changed_by(self.history, turn, before, after)).flatten())?;
            let tie = differing
                .filter(|_| is_theirs)
                .and_then(|cells| defects::misread(&self.case, &self.ties, *window, &cells));
            if let Some(tie) = tie {
                self.excuse_cells(tie);
                continue;
            }
            return Err(Failure::changed(format!("in the window {window:?}, before and after: {detail}")).into());
        }
        Ok(())
    }

    /// Returns `true` if the turn must not change the reads of a window.
    fn stays(&self, turn: &Turn, is_done: bool, (start, end): Window) -> bool {
        if !is_done {
            return true;
        }
        // A time range is cut if the window covers only a part of it.
        let is_cut = |first: u64, last: u64| {
            let is_whole = start <= first && last <= end;
            !(is_whole || end < first || start > last)
        };
        let cuts = |name: &TimestampedName| is_cut(name.start(), name.end());
        let cut = |folder: &str| names_in(&Path::new(&self.uri).join(folder), "").iter().any(cuts);
        match &turn.deed {
            // The library deletes a consolidated fragment without its vacuum file. A later vacuum
            // then removes the fragments listed there.
            Deed::VacuumFragments if self.deleted.iter().any(|(first, last)| is_cut(*first, *last)) => false,
            Deed::Join(_) | Deed::Gather(..) | Deed::Vacuum(Small::Commits | Small::Footers) => true,
            Deed::VacuumFragments if defects::has_times(self.history) => true,
            Deed::VacuumFragments => !cut("__fragments") && !cut(""),
            // If all keys were deleted, there is no consolidated metadata file.
            Deed::Vacuum(Small::Metadata) => !self.replaced_metadata.iter().any(cuts),
            deed => deed.time().is_some_and(|time| end < time),
        }
    }

    fn compare_fragments(&mut self) -> Result<(), End> {
        let array = ours::options(&self.case).threads(1).open(&self.uri);
        let array = array.map_err(|error| Failure::ours(ours::describe(&error)))?;
        let theirs = match self.reference.fragments(&self.uri) {
            Ok(theirs) => theirs,
            Err(error) => return self.their_refusal(&self.history.turns[0], &error),
        };
        compare_fragments(&theirs, &array).map_err(|detail| Failure::new(Kind::Fragments, detail).into())
    }

    /// Compares tdb's consolidation with the library's on a copy of the array.
    fn compare_twin(&mut self, turn: &Turn, twin: &str, before: &[Counted], counts: &mut Counts) -> Result<(), End> {
        if let Err(error) = by_them(self.history, turn, self.reference, twin) {
            return self.their_refusal(turn, &error);
        }
        let theirs_now = counted(&self.case, twin).map_err(Failure::ours)?;
        let own = self.counted()?;
        let gone = |after: &[Counted]| -> Vec<TimestampedName> {
            let stays = |name: &TimestampedName| after.iter().any(|other| other.name == *name);
            before.iter().map(|counted| counted.name.clone()).filter(|name| !stays(name)).collect()
        };
        if gone(&theirs_now) != gone(&own) {
            self.excuse("purges other fragments than tdb, among them fragments that tdb refuses to purge");
            return Ok(());
        }
        self.compare_carried(turn, twin, before, counts)?;
        if !matches!(&turn.deed, Deed::Join(join) if join.purge) {
            return Ok(());
        }
        let reason = defects::changed_by(self.history, turn, before, &theirs_now);
        for window in self.windows.clone() {
            let views = [&self.uri, twin].map(|uri| our_view(&self.case, uri, window));
            let [Ok(own), Ok(theirs)] = views else {
                return Err(Failure::changed(format!("in the window {window:?}, after the purge: {views:?}")).into());
            };
            let Some(detail) = other_cells(&self.case, &theirs.cells, &own.cells) else { continue };
            let differing = Differing::of(&self.case, &theirs.cells, &own.cells);
            let misread = defects::misread(&self.case, &self.ties, window, &differing);
            let of_theirs = Differing::of(&self.case, &own.cells, &theirs.cells);
            let back = (of_theirs.lost.is_subset(&of_theirs.gained))
                .then(|| defects::brings_back(self.history, turn, (before, &theirs_now), (&self.ties, &of_theirs)))
                .flatten();
            match (reason.or(back), misread) {
                (Some(reason), _) => self.excuse(reason),
                (None, Some(misread)) => self.excuse_cells(misread),
                (None, None) => {
                    let detail = format!("in the window {window:?}, purged by the library and by us: {detail}");
                    return Err(Failure::changed(detail).into());
                }
            }
        }
        counts.add(TWINS, 1);
        Ok(())
    }

    /// Compares the times and conditions of cells in new fragments with the library's.
    fn compare_carried(&mut self, turn: &Turn, twin: &str, before: &[Counted], counts: &mut Counts) -> Result<(), End> {
        let leaves_older = defects::leaves_older(self.history, turn, before);
        let compared = carried::compare(&self.case, [&self.uri, twin], before, leaves_older);
        match compared.map_err(Failure::ours)? {
            Carried::Same(tiles) => counts.add(CARRIED, tiles),
            Carried::Excused(why) => self.excuse(why),
            Carried::Other => counts.add(NOT_PAIRED, 1),
            Carried::Differs(detail) => {
                return Err(Failure::changed(format!("new fragments, compared with the library's: {detail}")).into());
            }
        }
        Ok(())
    }

    /// Fails if a verification of the array has an unexplained finding.
    fn verify(&mut self) -> Result<(), Failure> {
        let report = meanwhile::verification(&self.case)
            .threads(1)
            .folder(&self.uri)
            .map_err(|error| Failure::ours(ours::describe(&error)))?;
        for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Finding) {
            match defects::left_behind(finding, &self.deleted, &self.ties) {
                Some(reason) => self.excuse(reason),
                None => return Err(Failure::new(Kind::Fragments, format!("verification: {finding}"))),
            }
        }
        Ok(())
    }
}

/// Copies the array if the library is to run the same operation, and returns the copy's URI.
///
/// The library's result shows which cells a purge must keep, and which times the cells of new
/// fragments must have. Reads before the operation show neither.
fn twin_of(history: &History, turn: &Turn, uri: &str, folder: &Path) -> Option<String> {
    let Deed::Join(join) = &turn.deed else { return None };
    // Older formats refer to fragments by absolute URIs.
    if !(join.purge || defects::has_times(history)) || !history.version.has(Feature::RelativeVacuum) {
        return None;
    }
    let twin = folder.join("twin");
    let _ = fs::remove_dir_all(&twin);
    copy(Path::new(uri), &twin).ok()?;
    Some(twin.to_string_lossy().into_owned())
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

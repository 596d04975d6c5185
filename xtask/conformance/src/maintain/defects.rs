//! What the library is known to get wrong when it maintains arrays, told by which fragments it has joined.

use std::path::Path;

use tdb_cases::case::Case;
use tdb_cases::history::{Deed, History, Join, Turn};
use tdb_types::names::file_name;
use tdb_types::{ArrayType, Feature, TimestampedName};
use tdb_verify::{Finding, FindingKind};

use super::names::names_in;
use super::state::{Counted, Differing, Ties, Window};

/// Why a consolidation of the library's changes what is read; `None` if it shouldn't.
pub fn changed_by(history: &History, turn: &Turn, before: &[Counted], after: &[Counted]) -> Option<&'static str> {
    let Deed::Join(join) = &turn.deed else {
        return match &turn.deed {
            Deed::Gather(_, Some(_)) => {
                Some("drops deletions of metadata of a range of time, so that older values come back")
            }
            _ => None,
        };
    };
    let is_in = |counted: &Counted, all: &[Counted]| all.iter().any(|other| other.name == counted.name);
    let replaced: Vec<&Counted> = before.iter().filter(|counted| !is_in(counted, after)).collect();
    let new: Vec<&Counted> = after.iter().filter(|counted| !is_in(counted, before)).collect();
    let kept: Vec<&Counted> = before.iter().filter(|counted| is_in(counted, after)).collect();
    if new.is_empty() {
        return None;
    }
    let end = replaced.iter().map(|counted| counted.name.end()).max()?;
    if new.iter().map(|counted| counted.name.end()).max()? < end {
        return Some(
            "names a consolidated fragment by the end of the last of its fragments, although another ends later",
        );
    }
    by_order(history, join, &replaced, &kept).or_else(|| by_schema(&replaced, &new)).or_else(|| {
        let bounded = join.max_fragment_size.is_some() && new.len() > 1;
        match bounded {
            true if is_dense(history) => {
                Some("forgets all but the first of several fragments of a bounded size in its next step")
            }
            // In one file that formats before 12 don't have: all cells are gone for it.
            true if !history.version.has(Feature::CommitsFolder) => {
                Some("commits several fragments of a bounded size where it doesn't find them before format 12")
            }
            _ => None,
        }
    })
}

/// Whether a window cuts a fragment of several milliseconds whose cells have no times of their own, and which was joined to
/// one whose cells have: of these cells nobody knows the times any more, and both sides give them the fragment's first.
pub fn was_timeless(history: &History, before: &[Counted], after: &[Counted], (start, end): Window) -> bool {
    let has_times = |counted: &Counted| {
        counted.name.fragment_version().is_ok_and(|version| version.has(Feature::PartialTimeOverlap))
    };
    let is_in = |counted: &Counted, all: &[Counted]| all.iter().any(|other| other.name == counted.name);
    let is_cut = |counted: &Counted| {
        let (from, to) = (counted.name.start(), counted.name.end());
        from < to && start <= to && from <= end && !(start <= from && to <= end)
    };
    let mut new = after.iter().filter(|counted| !is_in(counted, before));
    let mut replaced = before.iter().filter(|counted| !is_in(counted, after));
    !is_dense(history) && new.any(has_times) && replaced.any(|counted| !has_times(counted) && is_cut(counted))
}

/// What of the order of fragments it gets wrong.
fn by_order(history: &History, join: &Join, replaced: &[&Counted], kept: &[&Counted]) -> Option<&'static str> {
    let meets = |other: &Counted| {
        replaced.iter().any(|own| own.domain.as_ref().zip(other.domain.as_ref()).is_none_or(|(a, b)| a.intersects(b)))
    };
    let start = replaced.iter().map(|counted| counted.name.start()).min()?;
    let end = replaced.iter().map(|counted| counted.name.end()).max()?;
    let is_tied = |other: &Counted| {
        replaced.iter().any(|own| own.name.start() <= other.name.end() && other.name.start() <= own.name.end())
    };
    if kept.iter().any(|other| is_tied(other) && meets(other)) {
        return Some("joins some of the fragments of one time, and chance decides which ones count then");
    }
    let is_between = |other: &Counted| (start..=end).contains(&other.name.start());
    (!has_times(history) && kept.iter().any(|other| is_between(other) && meets(other))).then_some(match &join.list {
        Some(_) => "lets listed fragments change places with those between them",
        None => "lets fragments of a range of time change places with one that reaches out of it",
    })
}

/// Attributes that were dropped are lost for the past, too.
fn by_schema(replaced: &[&Counted], new: &[&Counted]) -> Option<&'static str> {
    let lost = replaced.iter().flat_map(|counted| &counted.attributes);
    let mut lost = lost.filter(|name| new.iter().any(|counted| !counted.attributes.contains(name)));
    lost.next().map(|_| "loses the values of attributes that were dropped later, for readers of the past too")
}

fn is_dense(history: &History) -> bool {
    history.array.array_type == ArrayType::Dense
}

/// Whether consolidated fragments have the time of each cell.
pub fn has_times(history: &History) -> bool {
    !is_dense(history) && history.version.has(Feature::PartialTimeOverlap)
}

/// Why what both sides read differs, and how many cells that concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misread {
    pub why: &'static str,
    /// Cells of coordinates that were written twice at one time.
    pub tied: u64,
    /// Others, which the library has lost.
    pub lost: u64,
}

/// Why what both sides read in a window differs; `None` if it shouldn't. Each cell has to be one that was written twice at one
/// time within it, or one that the library alone hasn't.
pub fn misread(case: &Case, ties: &Ties, window: Window, differing: &Differing) -> Option<Misread> {
    let is_sparse = case.array.array_type == ArrayType::Sparse;
    if case.array.allows_dups || !ties.are_in(window) {
        return None;
    }
    let (tied, others): (Vec<_>, Vec<_>) = differing.coordinates.iter().partition(|place| ties.are_at(place, window));
    let (tied, lost) = (tied.len() as u64, others.len() as u64);
    let why = match (is_sparse, others.is_empty()) {
        (true, true) => "takes another one of cells that were written at the same time",
        (false, true) => "orders dense fragments of one time by where their commits lie",
        // Ours has them before and after.
        (true, false) if others.iter().all(|place| differing.only_in_second.contains(*place)) => {
            "loses cells of tiles in which others were written at the same time"
        }
        _ => return None,
    };
    Some(Misread { why, tied, lost })
}

/// Why a purge of the library's shows cells that weren't seen before; `None` if it shouldn't. It takes deleted cells out, but leaves
/// older ones of the same coordinates, which these hid: in fragments whose cells have times, and in those that aren't joined.
pub fn brings_back(
    history: &History,
    turn: &Turn,
    (before, after): (&[Counted], &[Counted]),
    (ties, differing): (&Ties, &Differing),
) -> Option<&'static str> {
    if differing.gained.is_empty() || !differing.gained.iter().all(|place| ties.is_overwritten(place)) {
        return None;
    }
    if leaves_older(history, turn, before) {
        return Some(
            "purges deleted cells of joined fragments, but no older ones of the same coordinates, which come back",
        );
    }
    let is_kept = |counted: &&Counted| after.iter().any(|other| other.name == counted.name);
    let (kept, replaced): (Vec<&Counted>, Vec<&Counted>) = before.iter().partition(is_kept);
    let end = replaced.iter().map(|counted| counted.name.end()).max()?;
    let has_older = kept.iter().any(|counted| counted.name.start() <= end);
    (purges_versions(history, turn) && has_older)
        .then_some("purges deleted cells of some fragments, and those of older ones come back, which we refuse")
}

/// Whether the library's purge may leave older cells in place of deleted ones.
pub fn leaves_older(history: &History, turn: &Turn, before: &[Counted]) -> bool {
    purges_versions(history, turn) && before.iter().any(|counted| counted.has_times)
}

/// Whether deleted cells are taken out, of which older versions may be there.
fn purges_versions(history: &History, turn: &Turn) -> bool {
    matches!(&turn.deed, Deed::Join(join) if join.purge) && !is_dense(history) && !history.array.allows_dups
}

/// Why the library can't read an array any more whose footers it has joined itself; `None` if it should.
///
/// Of format 11 it writes each footer longer than it says, and then takes any bytes for names and counts: it runs out of memory,
/// doesn't find schemas, and so on. Ours leaves such footers out, so that a file of them is the library's.
pub fn misplaces_footers(history: &History, array: &Path) -> Option<&'static str> {
    let has_stray = history.version.has(Feature::TileStatistics) && !history.version.has(Feature::FragmentStatistics);
    (has_stray && !names_in(array, ".meta").is_empty())
        .then_some("can't read footers of format 11 that it has joined itself")
}

/// Why a sound array has such a finding; `None` if it shouldn't. `deleted` are ranges of time whose fragments the library has
/// deleted: of a fragment that others were joined to it leaves the vacuum file, and those others with it.
///
/// Of versions of one time either may count: a later delete can remove the one and not the other. Then the consolidated fragment lacks cells
/// that the originals show, and only they have. `tdb verify` reports that although no byte was altered: it can't tell such cells from
/// lost ones, and a vacuum leaves the originals for the same reason.
pub fn left_behind(finding: &Finding, deleted: &[Window], ties: &Ties) -> Option<&'static str> {
    let name = TimestampedName::parse(file_name(&finding.file).strip_suffix(".vac")?)?;
    let window @ (first, last) = (name.start(), name.end());
    let was_deleted = deleted.iter().any(|(start, end)| *start <= first && last <= *end);
    match finding.kind {
        FindingKind::Replacement if was_deleted => {
            Some("deletes a joined fragment, but neither its vacuum file nor what that takes out of sight")
        }
        FindingKind::Replacement if ties.are_in(window) => {
            Some("keeps one of the versions of one time, either of which may count")
        }
        _ => None,
    }
}

/// Why the library couldn't do something; `None` if it should have.
pub fn refused(message: &str) -> Option<&'static str> {
    if message.contains("SIGFPE") && message.contains("job consolidate") {
        return Some("divides by zero where no fragment has an attribute of variable size that was added");
    }
    const KNOWN: [(&str, &str); 8] = [
        ("Consolidation read 0 cells", "can't purge all cells that there are"),
        ("start timestamp cannot be after end", "can't name files by the times of their first and last entries"),
        ("Cannot get file size", "looks for the files of deletes whose consolidated commits were vacuumed"),
        (
            "All tiles should have at least one cell",
            "can't read consolidated tiles of cells that were all overwritten at the same time",
        ),
        ("delta is not positive", "refuses positive deltas of joined cells that do not ascend, as we"),
        ("too small to write a single tile", "can't write tiles larger than the bound of a fragment's size"),
        ("should be at least 12 to consolidate commits", "has no files for joined commits in formats 7 to 11, as we"),
        ("was created before these fragments", "refuses listed dense fragments above an older one, as we"),
    ];
    KNOWN.iter().find(|(says, _)| message.contains(says)).map(|(_, why)| *why)
}

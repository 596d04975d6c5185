//! Known defects of the library's maintenance, recognized by the consolidated fragments.

use std::path::Path;

use tdb_cases::case::Case;
use tdb_cases::history::{Deed, History, Join, Turn};
use tdb_types::names::file_name;
use tdb_types::{ArrayType, Feature, TimestampedName};
use tdb_verify::{Finding, FindingKind};

use super::names::names_in;
use super::state::{Counted, Differing, Ties, Window};

/// Returns why a consolidation by the library changes the cells or metadata. Returns `None` if
/// there is no known reason.
pub fn changed_by(history: &History, turn: &Turn, before: &[Counted], after: &[Counted]) -> Option<&'static str> {
    let join = match &turn.deed {
        Deed::Join(join) => join,
        Deed::Gather(_, Some(_)) => {
            return Some("drops deletions of metadata in a time range, so that older values reappear");
        }
        _ => return None,
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
            // Formats before 12 have no commit file for several fragments. The library then does
            // not find any of their cells.
            true if !history.version.has(Feature::CommitsFolder) => {
                Some("commits several fragments of a bounded size in a way that it does not find before format 12")
            }
            _ => None,
        }
    })
}

/// `true` if a window cuts a replaced fragment that spans several milliseconds and has no time per
/// cell, and the consolidated fragment has times per cell. The original times are unknown, so both
/// sides use the start time of the source fragment.
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

/// Returns the known defect in the order of fragments, if one applies.
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
        return Some("consolidates some of the fragments of one time, so that their order is random");
    }
    let is_between = |other: &Counted| (start..=end).contains(&other.name.start());
    (!has_times(history) && kept.iter().any(|other| is_between(other) && meets(other))).then_some(match &join.list {
        Some(_) => "reorders listed fragments relative to those between them",
        None => "reorders fragments of a time range relative to one that extends beyond it",
    })
}

/// Returns the known defect with dropped attributes, whose values are also lost for reads of the
/// past.
fn by_schema(replaced: &[&Counted], new: &[&Counted]) -> Option<&'static str> {
    let lost = replaced.iter().flat_map(|counted| &counted.attributes);
    let mut lost = lost.filter(|name| new.iter().any(|counted| !counted.attributes.contains(name)));
    lost.next().map(|_| "loses the values of attributes that were dropped later, for reads of the past too")
}

fn is_dense(history: &History) -> bool {
    history.array.array_type == ArrayType::Dense
}

/// `true` if consolidated fragments store the time of each cell.
pub fn has_times(history: &History) -> bool {
    !is_dense(history) && history.version.has(Feature::PartialTimeOverlap)
}

/// Why the reads of both sides differ, and in how many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misread {
    pub why: &'static str,
    /// Number of cells with two writes at one time.
    pub tied: u64,
    /// Number of other cells, lost by the library.
    pub lost: u64,
}

/// Returns why the reads of both sides in a window differ. Returns `None` if no reason is known.
/// Each differing cell must have coordinates with two writes at one time in the window, or be
/// missing only in the library's result.
pub fn misread(case: &Case, ties: &Ties, window: Window, differing: &Differing) -> Option<Misread> {
    let is_sparse = case.array.array_type == ArrayType::Sparse;
    if case.array.allows_dups || !ties.are_in(window) {
        return None;
    }
    let (tied, others): (Vec<_>, Vec<_>) = differing.coordinates.iter().partition(|place| ties.are_at(place, window));
    let (tied, lost) = (tied.len() as u64, others.len() as u64);
    let why = match (is_sparse, others.is_empty()) {
        (true, true) => "returns another of the cells that were written at the same time",
        (false, true) => "orders dense fragments of one time by the location of their commits",
        // tdb returns these cells before and after.
        (true, false) if others.iter().all(|place| differing.only_in_second.contains(*place)) => {
            "loses cells of tiles in which others were written at the same time"
        }
        _ => return None,
    };
    Some(Misread { why, tied, lost })
}

/// Returns why a purge by the library makes older cells visible. Returns `None` if no reason is
/// known. The purge removes deleted cells, but keeps older cells of the same coordinates. This
/// happens in fragments with times per cell, and in fragments that are not consolidated.
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
            "purges deleted cells of consolidated fragments, but keeps older cells of the same coordinates, which reappear",
        );
    }
    let is_kept = |counted: &&Counted| after.iter().any(|other| other.name == counted.name);
    let (kept, replaced): (Vec<&Counted>, Vec<&Counted>) = before.iter().partition(is_kept);
    let end = replaced.iter().map(|counted| counted.name.end()).max()?;
    let has_older = kept.iter().any(|counted| counted.name.start() <= end);
    (purges_versions(history, turn) && has_older).then_some(
        "purges deleted cells of some fragments, so that cells of older fragments reappear, which tdb refuses",
    )
}

/// `true` if the library's purge may leave older cells in place of deleted ones.
pub fn leaves_older(history: &History, turn: &Turn, before: &[Counted]) -> bool {
    purges_versions(history, turn) && before.iter().any(|counted| counted.has_times)
}

/// `true` if the operation removes deleted cells of which older versions may exist.
fn purges_versions(history: &History, turn: &Turn) -> bool {
    matches!(&turn.deed, Deed::Join(join) if join.purge) && !is_dense(history) && !history.array.allows_dups
}

/// Returns why the library cannot read an array after a consolidation of footers. Returns `None` if
/// no reason is known.
///
/// In format 11 the library writes each footer longer than the stored size, and then parses wrong
/// bytes as names and counts. The library runs out of memory, misses schemas, or fails in other
/// ways. tdb leaves such footers out. A file of consolidated footers was therefore written by the
/// library.
pub fn misplaces_footers(history: &History, array: &Path) -> Option<&'static str> {
    let has_stray = history.version.has(Feature::TileStatistics) && !history.version.has(Feature::FragmentStatistics);
    (has_stray && !names_in(array, ".meta").is_empty())
        .then_some("cannot read footers of format 11 that it consolidated itself")
}

/// Returns why a sound array has this finding. Returns `None` if no reason is known. `deleted` are
/// the time ranges of the library's fragment deletes. A delete of a consolidated fragment leaves
/// the vacuum file and the source fragments.
///
/// After two writes at one time, either version may be visible. A later delete can remove one
/// version and not the other. Then the consolidated fragment lacks cells that only the source
/// fragments still show. `tdb verify` reports this although no byte was altered, because lost cells
/// would look the same. A vacuum keeps the source fragments for the same reason.
pub fn left_behind(finding: &Finding, deleted: &[Window], ties: &Ties) -> Option<&'static str> {
    let name = TimestampedName::parse(file_name(&finding.file).strip_suffix(".vac")?)?;
    let window @ (first, last) = (name.start(), name.end());
    let was_deleted = deleted.iter().any(|(start, end)| *start <= first && last <= *end);
    match finding.kind {
        FindingKind::Replacement if was_deleted => {
            Some("deletes a consolidated fragment, but neither its vacuum file nor the fragments that this file hides")
        }
        FindingKind::Replacement if ties.are_in(window) => {
            Some("keeps one of several versions of one time, any of which may be visible")
        }
        _ => None,
    }
}

/// Returns why the library refuses an operation. Returns `None` if there is no known reason.
pub fn refused(message: &str) -> Option<&'static str> {
    if message.contains("SIGFPE") && message.contains("job consolidate") {
        return Some("divides by zero if no fragment has an added attribute of variable size");
    }
    const KNOWN: [(&str, &str); 8] = [
        ("Consolidation read 0 cells", "cannot purge all cells of an array"),
        ("start timestamp cannot be after end", "cannot name files by the times of their first and last entries"),
        ("Cannot get file size", "looks for delete files whose consolidated commits were vacuumed"),
        (
            "All tiles should have at least one cell",
            "cannot read consolidated tiles of cells that were all overwritten at the same time",
        ),
        ("delta is not positive", "refuses positive deltas of consolidated cells that do not ascend, as tdb does"),
        ("too small to write a single tile", "cannot write tiles larger than the maximum fragment size"),
        (
            "should be at least 12 to consolidate commits",
            "has no consolidated commits files in formats 7 to 11, as tdb",
        ),
        ("was created before these fragments", "refuses listed dense fragments above an older one, as tdb does"),
    ];
    KNOWN.iter().find(|(says, _)| message.contains(says)).map(|(_, why)| *why)
}

//! Conditions under which a consolidation preserves the visible cells at every time.

use tdb_array::Array;
use tdb_types::names::file_name;
use tdb_types::{ArrayType, Feature};

use super::facts::{Facts, union};
use tdb_job::{Refusal, whole_tiles};

/// The requested options that affect the conditions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) purge: bool,
    pub(super) flatten_history: bool,
}

/// Returns `true` if consolidated cells keep their timestamps. All versions of a cell are then
/// kept.
fn keeps_times(array: &Array) -> bool {
    array.schema().array_type() != ArrayType::Dense && array.version_of_new_fragments().has(Feature::PartialTimeOverlap)
}

/// Returns `true` if a set that conflicts with a fragment still conflicts with it after other
/// fragments are added.
pub(super) fn stays_refused(array: &Array) -> bool {
    array.schema().array_type() == ArrayType::Dense || keeps_times(array)
}

/// Returns the reason why the chosen fragments cannot be consolidated, or `None`. `chosen` has the
/// order of `all`.
pub(super) fn check<'f>(
    array: &Array,
    all: impl IntoIterator<Item = &'f Facts>,
    chosen: &[&Facts],
    asked: Asked,
) -> Option<Refusal> {
    let schema = array.schema();
    let is_dense = schema.array_type() == ArrayType::Dense;
    let version = array.version_of_new_fragments();
    let update = array.directory().deletes.iter().find(|path| file_name(path).ends_with(".upd"));
    if let Some(file) = update {
        return Some(Refusal::Updates { file: file.clone() });
    }
    if !version.has(Feature::RelativeVacuum) && array.storage().uri("").is_none() {
        return Some(Refusal::NoUri);
    }
    let mut dropped: Vec<String> = chosen.iter().flat_map(|facts| facts.dropped.iter().cloned()).collect();
    if !dropped.is_empty() && !asked.flatten_history {
        dropped.sort();
        dropped.dedup();
        return Some(Refusal::DroppedAttributes { names: dropped });
    }
    // With timestamps, all versions are kept, and only versions with equal timestamps can change
    // order.
    let has_times = keeps_times(array);
    if has_times
        && !schema.allows_duplicates()
        && let Some((fragment, other)) = undated(chosen)
    {
        return Some(Refusal::Undated { fragment: fragment.name.clone(), other: other.name.clone() });
    }
    let domain = union(chosen.iter().filter_map(|facts| facts.domain.as_ref()))?;
    let covered = if is_dense { whole_tiles(schema, &domain) } else { domain };
    let start = chosen.iter().map(|facts| facts.name.start()).min()?;
    let end = chosen.iter().map(|facts| facts.name.end()).max()?;
    let mut rest = chosen.iter().peekable();
    let outside = all.into_iter().filter(|facts| rest.next_if(|own| own.name == facts.name).is_none());
    let mut outside = outside.filter(|facts| facts.domain.as_ref().is_some_and(|own| own.intersects(&covered)));
    if !is_dense && schema.allows_duplicates() {
        return None;
    }
    outside.find_map(|other| {
        let fragment = other.name.clone();
        let (from, to) = (other.name.start(), other.name.end());
        if has_times {
            if chosen.iter().any(|own| own.overlaps(other) && may_be_equal(own, other)) {
                return Some(Refusal::SameTime { fragment });
            }
            return (asked.purge && from <= end).then_some(Refusal::Uncovers { fragment });
        }
        if from > end || to < start && !is_dense {
            return None;
        }
        match from {
            from if from == start => Some(Refusal::SameTime { fragment }),
            from if from > start => Some(Refusal::Between { fragment }),
            _ if is_dense => Some(Refusal::CoversOlder { fragment }),
            _ => None,
        }
    })
}

/// Returns `true` if cells of two fragments may have the same timestamp.
fn may_be_equal(a: &Facts, b: &Facts) -> bool {
    a.name.start() <= b.name.end() && b.name.start() <= a.name.end()
}

/// Returns a fragment with a time range and no cell timestamps, and a fragment whose time conflicts
/// with this range.
///
/// Readers order cells by start timestamps, and hide cells by end timestamps. With a single
/// timestamp per cell, both orders must agree.
fn undated<'f>(chosen: &[&'f Facts]) -> Option<(&'f Facts, &'f Facts)> {
    let may_change = |facts: &Facts, other: &Facts| match other.has_times {
        true => may_be_equal(facts, other),
        false => facts.name.start().cmp(&other.name.start()) != facts.name.end().cmp(&other.name.end()),
    };
    chosen.iter().filter(|facts| facts.is_undated()).find_map(|facts| {
        let meets = |other: &&&Facts| other.name != facts.name && may_change(facts, other) && facts.overlaps(other);
        Some((*facts, *chosen.iter().find(meets)?))
    })
}

//! What must hold before fragments are joined, so that readers find the same cells afterwards.

use tdb_array::Array;
use tdb_types::names::file_name;
use tdb_types::{ArrayType, Feature};

use super::facts::{Facts, expanded, union, version_of_new_fragments};
use super::refusal::Refusal;

/// What is asked for, as far as the rules go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) purge: bool,
    pub(super) flatten_history: bool,
}

/// Why these of all fragments can't be joined, if so.
pub(super) fn check(array: &Array, all: &[Facts], chosen: &[&Facts], asked: Asked) -> Option<Refusal> {
    let schema = array.schema();
    let is_dense = schema.array_type() == ArrayType::Dense;
    let version = version_of_new_fragments(schema);
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
    // All versions stay, each with its time, so that only those of the same time can change places.
    let has_times = !is_dense && version.has(Feature::PartialTimeOverlap);
    let domain = union(chosen)?;
    let covered = if is_dense { expanded(schema, &domain) } else { domain };
    let start = chosen.iter().map(|facts| facts.name.start()).min()?;
    let end = chosen.iter().map(|facts| facts.name.end()).max()?;
    let is_chosen = |facts: &Facts| chosen.iter().any(|other| other.name == facts.name);
    let outside = all.iter().filter(|facts| !is_chosen(facts));
    let mut outside = outside.filter(|facts| facts.domain.as_ref().is_some_and(|own| own.intersects(&covered)));
    if !is_dense && schema.allows_duplicates() {
        return None;
    }
    outside.find_map(|other| {
        let fragment = other.name.clone();
        let (from, to) = (other.name.start(), other.name.end());
        if has_times {
            let meets = |own: &&&Facts| {
                let overlap = own.domain.as_ref().zip(other.domain.as_ref()).is_some_and(|(a, b)| a.intersects(b));
                overlap && may_be_equal(own, other)
            };
            if chosen.iter().any(|own| meets(&own)) {
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

/// Whether cells of two fragments may have the same time.
fn may_be_equal(a: &Facts, b: &Facts) -> bool {
    let times = |facts: &Facts| match facts.has_times {
        true => (facts.name.start(), facts.name.end()),
        false => (facts.name.start(), facts.name.start()),
    };
    let ((a, a_end), (b, b_end)) = (times(a), times(b));
    a <= b_end && b <= a_end
}

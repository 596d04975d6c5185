//! What must hold before fragments are joined, so that readers find the same cells afterwards.

use std::fmt;

use tdb_array::Array;
use tdb_types::names::file_name;
use tdb_types::{ArrayType, Feature, TimestampedName};

use super::facts::{Facts, expanded, union, version_of_new_fragments};

/// Why fragments aren't joined.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Another fragment lies between them in time, and overlaps.
    Between {
        /// That fragment.
        fragment: TimestampedName,
    },
    /// Another fragment is said to be written at the same time as one of them, and overlaps.
    SameTime {
        /// That fragment.
        fragment: TimestampedName,
    },
    /// The tiles of the new dense fragment would cover an older fragment.
    CoversOlder {
        /// That fragment.
        fragment: TimestampedName,
    },
    /// Cells that deleted ones hide would come back.
    Uncovers {
        /// The fragment that they are in.
        fragment: TimestampedName,
    },
    /// They have attributes that the array has no more: values that readers of earlier times still see.
    DroppedAttributes {
        /// Their names.
        names: Vec<String>,
    },
    /// The array has cells that were updated by a condition.
    Updates {
        /// The commit.
        file: String,
    },
    /// The new dense fragment would have too many cells that nobody wrote.
    Amplification {
        /// How many times as many cells it would have.
        found: f64,
        /// How many it may have.
        allowed: f64,
    },
    /// Neighbours in time differ too much in size.
    SizeRatio {
        /// The ratio that they must have.
        least: f32,
    },
    /// Before format 19 files name others by absolute URIs, which this storage hasn't got.
    NoUri,
    /// A fragment isn't one of those that count.
    NoSuchFragment {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Between { fragment } => write!(
                f,
                "{fragment} was written between these fragments and overlaps them; it would change places with cells; join it too"
            ),
            Self::SameTime { fragment } => write!(
                f,
                "{fragment} was written at the same time as one of these fragments and overlaps it; which one counts would change; join it too"
            ),
            Self::CoversOlder { fragment } => write!(
                f,
                "the new fragment would have the tiles of {fragment}, which is older and isn't joined; join it too"
            ),
            Self::Uncovers { fragment } => write!(
                f,
                "without the deleted cells, older ones of {fragment} would come back; join it too, or keep deleted cells"
            ),
            Self::DroppedAttributes { names } => write!(
                f,
                "the values of attributes that were dropped since would be lost for readers of earlier times: {}; \
                 say that this history may go",
                names.join(", ")
            ),
            Self::Updates { file } => write!(f, "{file}: cells were updated by a condition, which isn't supported"),
            Self::Amplification { found, allowed } => write!(
                f,
                "the new fragment would have {found:.2} times as many cells as the tiles of these fragments; allowed are {allowed:.2}"
            ),
            Self::SizeRatio { least } => {
                write!(f, "neighbours in time differ too much in size: the ratio must be at least {least}")
            }
            Self::NoUri => {
                write!(f, "files of formats before 19 name fragments by absolute URIs, and this storage has none")
            }
            Self::NoSuchFragment { name } => write!(f, "there is no fragment {name} that counts"),
        }
    }
}

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

use std::fmt;

use tdb_types::TimestampedName;

/// Reason why a set of fragments is not consolidated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Another fragment overlaps the set and was written in between.
    Between {
        /// The other fragment.
        fragment: TimestampedName,
    },
    /// Another fragment overlaps the set and has the same timestamp as a member.
    SameTime {
        /// The other fragment.
        fragment: TimestampedName,
    },
    /// The tiles of the new dense fragment would cover an older fragment.
    CoversOlder {
        /// The older fragment.
        fragment: TimestampedName,
    },
    /// Purging deleted cells would make older cells visible again.
    Uncovers {
        /// The fragment of the older cells.
        fragment: TimestampedName,
    },
    /// The cells of a fragment have no timestamps within its time range. Another overlapping
    /// fragment was written within the range.
    Undated {
        /// The fragment without cell timestamps.
        fragment: TimestampedName,
        /// The other fragment.
        other: TimestampedName,
    },
    /// The fragments have dropped or redefined attributes, with values visible to readers of
    /// earlier times.
    DroppedAttributes {
        /// Names of the attributes.
        names: Vec<String>,
    },
    /// The array has cells updated by a condition.
    Updates {
        /// Path of the commit.
        file: String,
    },
    /// The new dense fragment would contain too many unwritten cells.
    Amplification {
        /// Cells of the new fragment, as a multiple of the cells of the original tiles.
        found: f64,
        /// The limit.
        allowed: f64,
    },
    /// No two of the remaining dense fragments fit together.
    Apart {
        /// Cells of the MBR of the nearest pair, as a multiple of the cells of their tiles.
        found: f64,
        /// The limit.
        allowed: f64,
    },
    /// The sizes of consecutive fragments differ too much.
    SizeRatio {
        /// The required ratio.
        least: f32,
    },
    /// Formats before 19 need absolute URIs, and the storage has no URIs.
    NoUri,
    /// The array has no visible fragment with this name.
    NoSuchFragment {
        /// The given name.
        name: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Between { fragment } => write!(
                f,
                "{fragment} overlaps these fragments and was written in between; include {fragment} to keep the order of writes"
            ),
            Self::SameTime { fragment } => write!(
                f,
                "{fragment} overlaps one of these fragments and has the same timestamp, and another value could win; include {fragment} to keep the result"
            ),
            Self::CoversOlder { fragment } => write!(
                f,
                "the new fragment would cover tiles of {fragment}, which is older and not selected; include {fragment} too"
            ),
            Self::Uncovers { fragment } => write!(
                f,
                "purging the deleted cells would make older cells of {fragment} visible again; include {fragment} too, or keep deleted cells"
            ),
            Self::Undated { fragment, other } => write!(
                f,
                "the cells of {fragment} have no timestamps, and {other} overlaps the fragment and was written within the same time range: another value could win"
            ),
            Self::DroppedAttributes { names } => write!(
                f,
                "readers of earlier times would lose the values of attributes that were dropped or redefined since: {}; allow flattening the history to continue",
                names.join(", ")
            ),
            Self::Updates { file } => write!(f, "{file}: cells were updated by a condition, which is not supported"),
            Self::Amplification { found, allowed } => write!(
                f,
                "the new fragment would have {found:.2} times as many cells as the tiles of these fragments: expected at most {allowed:.2}"
            ),
            Self::Apart { found, allowed } => write!(
                f,
                "no two of these fragments fit together: the nearest pair would become a fragment with {found:.2} times as many cells as their tiles: expected at most {allowed:.2}"
            ),
            Self::SizeRatio { least } => {
                write!(f, "the sizes of consecutive fragments differ too much: expected a ratio of at least {least}")
            }
            Self::NoUri => {
                write!(
                    f,
                    "files of format versions before 19 store absolute URIs of fragments, and this storage has none"
                )
            }
            Self::NoSuchFragment { name } => write!(f, "no visible fragment is named {name}"),
        }
    }
}

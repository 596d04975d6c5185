//! Why fragments aren't joined.

use std::fmt;

use tdb_types::TimestampedName;

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
    /// The cells of a fragment don't say when they were written within its range of time, and another one with cells in its box
    /// was written meanwhile.
    Undated {
        /// The fragment.
        fragment: TimestampedName,
        /// The other one.
        other: TimestampedName,
    },
    /// They have attributes that the array has no more, or not as they were: values that readers of earlier times still see.
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
    /// No two of the remaining dense fragments fit together.
    Apart {
        /// Cells of the box around the nearest pair, as a multiple of the cells of their tiles.
        found: f64,
        /// The limit.
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
            Self::Undated { fragment, other } => write!(
                f,
                "the cells of {fragment} don't say when they were written, and {other} was written meanwhile and overlaps it: \
                 which one counts would change"
            ),
            Self::DroppedAttributes { names } => write!(
                f,
                "readers of earlier times would find other values of attributes that were dropped or changed since: {}; \
                 say that this history may go",
                names.join(", ")
            ),
            Self::Updates { file } => write!(f, "{file}: cells were updated by a condition, which isn't supported"),
            Self::Amplification { found, allowed } => write!(
                f,
                "the new fragment would have {found:.2} times as many cells as the tiles of these fragments; allowed are {allowed:.2}"
            ),
            Self::Apart { found, allowed } => write!(
                f,
                "no two of these fragments fit together: the nearest would become one with {found:.2} times as many cells as their tiles; \
                 allowed are {allowed:.2}"
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

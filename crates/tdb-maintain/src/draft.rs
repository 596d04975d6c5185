//! What one job is going to do, and what it leaves alone.

use std::fmt;

use tdb_array::{ArrayError, TimeRange};

use crate::step::Planned;

/// What one job is going to do.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// In this order: whatever interrupts them, nothing is lost.
    pub(crate) steps: Vec<Planned>,
    pub(crate) left: Vec<Left>,
    pub(crate) savings: Savings,
    pub(crate) past: Vec<TimeRange>,
}

/// How much less there is to do for those who open the array or group, when consolidation and the vacuum that belongs to it
/// are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Savings {
    /// Names fewer in the folders that are listed.
    pub names: u64,
    /// Files fewer that are read.
    pub reads: u64,
}

/// Something that a vacuum leaves alone, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct Left {
    /// The path of the file below the folder of the array or group.
    pub path: String,
    /// Why.
    pub why: Reason,
}

/// Why a vacuum leaves something alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// What it replaces is the only copy.
    #[error("what it is named after isn't there, so that the files that it names may be the only copy")]
    NoReplacement,
    /// What stands in place of others is damaged.
    #[error("what it is named after can't be relied on: {0}")]
    Unsound(#[source] Box<ArrayError>),
    /// It names something that was written at another time.
    #[error("it names {name}, which was written at another time than what replaces it")]
    OtherTime {
        /// What it names.
        name: String,
    },
    /// It replaces itself, be it by way of others.
    #[error("by way of what it names it replaces itself")]
    Circle,
    /// It is named as if an interrupted consolidation of fragments had left it.
    #[error("{}", tdb_job::journal::NOT_OURS)]
    NoJournal,
    /// Fragments that were consolidated together cover less than what they replace.
    #[error("the fragments that were consolidated together don't cover {fragment}: one of them is missing")]
    Uncovered {
        /// The name of one that they replace.
        fragment: String,
    },
    /// Fragments that were consolidated together have fewer cells than what they replace.
    #[error(
        "the fragments that were consolidated together show {there} cells, those that they replace {replaced}: one of them is \
         missing"
    )]
    Fewer {
        /// How many cells show of the new fragments; where cells have no duplicates, those that show of the replaced ones, too.
        there: u64,
        /// How many show of the replaced ones.
        replaced: u64,
    },
    /// What it names may be the only copy of what another one names that is left.
    #[error("what it names may stand in place of what {list} names, which is left")]
    Waits {
        /// The path of the other one.
        list: String,
    },
    /// The joined metadata aren't what the files that it names say.
    #[error("what it is named after doesn't have what the files that it names say of {key:?}")]
    Lacks {
        /// A key of the metadata.
        key: String,
    },
    /// It is a symbolic link: what it leads to may be anybody's.
    #[error("it is a symbolic link, and nothing behind one is removed")]
    Link,
    /// It can't be read.
    #[error("it can't be read: {0}")]
    Unreadable(#[source] Box<ArrayError>),
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "leave {}: {}", self.path, self.why)
    }
}

//! The draft of a job: steps and kept files.

use std::fmt;

use tdb_array::{ArrayError, TimeRange};

use crate::step::Planned;

/// The draft of a job.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The steps, in an order that loses no data when interrupted.
    pub(crate) steps: Vec<Planned>,
    pub(crate) left: Vec<Retained>,
    pub(crate) savings: Savings,
    pub(crate) past: Vec<TimeRange>,
}

/// The savings for readers that open the array or group after the consolidation and a vacuum of the
/// same kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Savings {
    /// Number of names saved in folder listings.
    pub names: u64,
    /// Number of file reads saved.
    pub reads: u64,
}

/// A kept file, and the reason why a job keeps it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Retained {
    /// Path below the folder of the array or group.
    pub path: String,
    /// Reason.
    pub why: Reason,
}

/// The reason why a job keeps a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The consolidated file is missing. The superseded files may be the only copy.
    #[error("the consolidated file is missing, and the listed files may be the only copy")]
    NoReplacement,
    /// The consolidated file is damaged.
    #[error("the consolidated file is damaged: {0}")]
    Unsound(#[source] Box<ArrayError>),
    /// The vacuum file lists a file outside of the time range.
    #[error("lists {name}, which is outside of the time range of its replacement")]
    OtherTime {
        /// Name of the listed file.
        name: String,
    },
    /// The vacuum file directly or indirectly lists the consolidated file.
    #[error("lists, directly or through other vacuum files, its own replacement")]
    Cycle,
    /// The file has the name of a journal, but not the content of a journal for this array.
    #[error("{}", tdb_job::journal::NOT_OURS)]
    NoJournal,
    /// The new fragments of a consolidation do not cover a replaced fragment.
    #[error("the consolidated fragments do not cover {fragment}: a fragment is missing")]
    Uncovered {
        /// Name of a replaced fragment.
        fragment: String,
    },
    /// The new fragments of a consolidation have fewer cells than the replaced fragments.
    #[error(
        "the consolidated fragments have {there} visible cells, but the replaced fragments have {replaced}: a fragment is missing"
    )]
    Fewer {
        /// Number of visible cells in the new fragments.
        there: u64,
        /// Number of visible cells in the replaced fragments. In arrays without duplicates, the
        /// number of visible cells in the replaced and the new fragments together.
        replaced: u64,
    },
    /// The listed fragments may replace the fragments listed in another vacuum file, which is kept.
    #[error("may list the replacements of the files in {list}, which is kept")]
    Waits {
        /// Path of the other vacuum file.
        list: String,
    },
    /// The consolidated metadata differs from the listed files.
    #[error("the consolidated file lacks the value of {key:?} in the listed files")]
    Lacks {
        /// A key whose value differs.
        key: String,
    },
    /// The path is a symbolic link. Its target may belong to another user or array.
    #[error("a symbolic link, and nothing behind a link is removed")]
    Link,
    /// The file is unreadable.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] Box<ArrayError>),
}

impl fmt::Display for Retained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "leave {}: {}", self.path, self.why)
    }
}

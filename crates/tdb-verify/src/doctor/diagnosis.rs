//! Diagnosis of a problem.

use std::fmt;

use tdb_storage::{Entry, EntryKind};

use crate::Severity;

/// A problem in the folder of an array or group, with a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Path below the folder. For a member of a group, the key of the member.
    pub path: String,
    /// File or folder.
    pub kind: EntryKind,
    /// Description of the file or folder.
    pub what: &'static str,
    /// The cause and the consequences.
    pub why: String,
    /// The remedy.
    pub remedy: Remedy,
    /// Severity. Wasted space and unknown files are notes.
    pub severity: Severity,
    /// Paths of the affected files. May be empty for a folder.
    pub files: Vec<String>,
    /// Total size of the files in bytes.
    pub bytes: u64,
}

/// A remedy for a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Quarantines the file or folder, without an effect on readers.
    Quarantine,
    /// Quarantines the file, with an effect on readers. Runs only on
    /// [request](crate::Doctor::only).
    Reveal,
    /// Writes an ignore file for consolidated commits of missing fragments, with an effect on
    /// readers. Runs only on [request](crate::Doctor::only).
    Ignore {
        /// The commits, as the consolidated file lists them.
        commits: Vec<String>,
    },
    /// Completes or rolls back an interrupted consolidation.
    Finish,
    /// Takes over a lock whose owner may still be running. Runs only on
    /// [request](crate::Doctor::only). Safe only after the owner has ended.
    TakeOver,
    /// Replaces the absolute URI of a group member with a path relative to the group's folder.
    Relative {
        /// Key of the member: its name or URI.
        key: String,
        /// The relative path. `None` if another member already has this path. In this case, the
        /// member is removed.
        path: Option<String>,
    },
    /// The doctor has no remedy.
    None,
}

impl Remedy {
    /// Returns `true` if the remedy affects readers. Such a remedy runs only on request.
    #[must_use]
    pub fn changes_what_is_read(&self) -> bool {
        matches!(self, Self::Reveal | Self::Ignore { .. })
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Quarantine | Self::Reveal => "quarantine",
            Self::Ignore { .. } => "ignore",
            Self::Finish => "finish",
            Self::TakeOver => "take over",
            Self::Relative { path: Some(_), .. } => "make relative",
            Self::Relative { path: None, .. } => "remove from group",
            Self::None => "leave",
        })
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, what, why, remedy, .. } = self;
        write!(f, "{remedy} {path}: {what}; {why}")
    }
}

impl Diagnosis {
    /// Creates a finding about a file, with quarantine as the remedy.
    pub(super) fn file(path: impl Into<String>, bytes: u64, what: &'static str, why: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            kind: EntryKind::File,
            what,
            why: why.into(),
            remedy: Remedy::Quarantine,
            severity: Severity::Finding,
            files: vec![path.clone()],
            bytes,
            path,
        }
    }

    /// Lowers the severity to a note, for files that only take up space.
    pub(super) fn harmless(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }

    /// Sets whether the path is a file or a folder. For a folder, clears the list of files.
    pub(super) fn of(self, kind: EntryKind) -> Self {
        let files = if kind == EntryKind::File { self.files } else { Vec::new() };
        Self { kind, files, ..self }
    }

    /// Sets the remedy.
    pub(super) fn with(self, remedy: Remedy) -> Self {
        Self { remedy, ..self }
    }

    /// Creates a note about a file or folder without a known problem.
    pub(super) fn note(path: String, entry: &Entry, what: &'static str, why: &str) -> Self {
        Self::file(path, entry.size, what, why).of(entry.kind).with(Remedy::None).harmless()
    }

    /// Returns `true` if path, description and remedy are equal.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.what, &self.remedy) == (&other.path, other.what, &other.remedy)
    }
}

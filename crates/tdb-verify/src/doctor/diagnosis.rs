//! What the doctor says of something that it found.

use std::fmt;

use tdb_storage::{Entry, EntryKind};

use crate::Severity;

/// Something in the folder of an array or group that isn't as it should be, and what may be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// Its path below the folder; of a member of a group, the group's folder of members.
    pub path: String,
    /// Whether it is a file or a folder.
    pub kind: EntryKind,
    /// What it is.
    pub what: &'static str,
    /// How it came about, and what follows from it.
    pub why: String,
    /// What may be done about it.
    pub remedy: Remedy,
    /// Whether something is wrong. What only takes room is a note, and so is what the doctor doesn't know.
    pub severity: Severity,
    /// The files that it consists of, by their paths.
    pub files: Vec<String>,
    /// Bytes of the files.
    pub bytes: u64,
}

/// What may be done about something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Moving it aside. Readers find what they found before.
    SetAside,
    /// Moving it aside, after which readers find something else: only for those who [ask for it](crate::Doctor::only).
    Reveal,
    /// Writing a file that takes back gathered commits whose fragments are gone. Readers find something else then.
    Ignore {
        /// The commits, as they are gathered.
        commits: Vec<String>,
    },
    /// Finishing what was interrupted, or undoing it.
    Finish,
    /// Taking over a lock of somebody who may live: only for those who [ask for it](crate::Doctor::only), being certain that
    /// nobody is at it.
    TakeOver,
    /// Naming a member of a group by its path below the group's folder.
    Relative {
        /// What it is known by: its name, or its URI.
        key: String,
        /// The path; none if another member has it already, so that this one goes.
        path: Option<String>,
    },
    /// Nothing that the doctor could do.
    None,
}

impl Remedy {
    /// Whether readers find something else afterwards, so that it is done only for those who ask for it by its path.
    #[must_use]
    pub fn changes_what_is_read(&self) -> bool {
        matches!(self, Self::Reveal | Self::Ignore { .. })
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SetAside | Self::Reveal => "set aside",
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
    /// A file that may be moved aside.
    pub(super) fn file(path: impl Into<String>, bytes: u64, what: &'static str, why: impl Into<String>) -> Self {
        let path = path.into();
        Self {
            kind: EntryKind::File,
            what,
            why: why.into(),
            remedy: Remedy::SetAside,
            severity: Severity::Finding,
            files: vec![path.clone()],
            bytes,
            path,
        }
    }

    /// The same of what only takes room: no reader looks at it, and nobody is kept from anything.
    pub(super) fn harmless(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }

    /// The same of a file or a folder.
    pub(super) fn of(self, kind: EntryKind) -> Self {
        let files = if kind == EntryKind::File { self.files } else { Vec::new() };
        Self { kind, files, ..self }
    }

    /// The same with another remedy.
    pub(super) fn with(self, remedy: Remedy) -> Self {
        Self { remedy, ..self }
    }

    /// Something that nothing is wrong with, as far as the doctor knows.
    pub(super) fn note(path: String, entry: &Entry, what: &'static str, why: &str) -> Self {
        let of_file = Self::file(path, entry.size, what, why);
        let files = if entry.kind == EntryKind::File { of_file.files.clone() } else { Vec::new() };
        Self { kind: entry.kind, remedy: Remedy::None, severity: Severity::Note, files, ..of_file }
    }

    /// Whether both say the same of the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.what, &self.remedy) == (&other.path, other.what, &other.remedy)
    }
}

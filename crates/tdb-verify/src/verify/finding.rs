//! What is said of something that isn't as it should be.

use std::fmt;

use tdb_array::ArrayError;

/// Something that isn't as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// Whether something is wrong.
    pub severity: Severity,
    /// The whole path of the file or folder.
    pub file: String,
    /// The field, if it is about one.
    pub field: Option<String>,
    /// The tile's number in its fragment, if it is about one.
    pub tile: Option<u64>,
    /// What was expected, and what was found.
    pub what: String,
}

/// Whether something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is: bytes were changed or lost, or were never right.
    Finding,
    /// Nothing is wrong with it: some releases are known to write it so, or it takes room for nothing.
    Note,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// A file, or a part of it, that is missing or can't be read, unfiltered or understood.
    Unreadable,
    /// A file of another size than the metadata says.
    FileSize,
    /// Numbers of tiles or cells that can't be.
    Counts,
    /// A fragment without a commit.
    Uncommitted,
    /// A journal: fragments were being joined when that was interrupted, or are just being joined.
    Interrupted,
    /// Fragments, or files of metadata, that readers leave out for the sake of another one, which is lost or damaged.
    Replacement,
    /// What no reader looks at.
    Unused,
    /// Two copies of the same that differ.
    Copies,
    /// The least value of a tile, or of all of them.
    Least,
    /// The greatest value.
    Greatest,
    /// The sum.
    Sum,
    /// The number of nulls.
    NullCount,
    /// The smallest box around a tile's cells.
    Mbr,
    /// The nodes above these boxes.
    RTree,
    /// The smallest box around a fragment's cells.
    NonEmptyDomain,
    /// The order of cells.
    CellOrder,
    /// Cells of equal coordinates in one fragment of an array that does not allow them.
    Duplicates,
    /// A member of a group.
    Member,
    /// More of the same that isn't listed.
    More,
}

impl FindingKind {
    /// A word for it, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::FileSize => "file-size",
            Self::Counts => "counts",
            Self::Uncommitted => "uncommitted",
            Self::Interrupted => "interrupted",
            Self::Replacement => "replacement",
            Self::Unused => "unused",
            Self::Copies => "copies",
            Self::Least => "least-value",
            Self::Greatest => "greatest-value",
            Self::Sum => "sum",
            Self::NullCount => "null-count",
            Self::Mbr => "mbr",
            Self::RTree => "r-tree",
            Self::NonEmptyDomain => "non-empty-domain",
            Self::CellOrder => "cell-order",
            Self::Duplicates => "duplicates",
            Self::Member => "member",
            Self::More => "more",
        }
    }
}

impl Severity {
    /// A word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Note => "note",
        }
    }
}

impl Finding {
    /// Something wrong with a file.
    pub(super) fn wrong(kind: FindingKind, file: impl Into<String>, what: impl Into<String>) -> Self {
        let (file, what) = (file.into(), what.into());
        Self { kind, severity: Severity::Finding, file, field: None, tile: None, what }
    }

    /// Something to be known of a file.
    pub(super) fn note(kind: FindingKind, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::wrong(kind, file, what) }
    }

    /// The same of a field.
    pub(super) fn of_field(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// The same of a tile.
    pub(super) fn of_tile(self, tile: impl Into<Option<u64>>) -> Self {
        Self { tile: tile.into(), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.severity.name(), self.file)?;
        if let Some(tile) = self.tile {
            write!(f, ": tile {tile}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": field {field:?}")?;
        }
        write!(f, ": {}: {}", self.kind.name(), self.what)
    }
}

/// Keeps an error with its tile, unless it is one that ends everything.
pub(super) fn kept<T>(result: Result<T, ArrayError>) -> Result<Result<T, ArrayError>, ArrayError> {
    match result {
        Err(ArrayError::Cancelled) => Err(ArrayError::Cancelled),
        kept => Ok(kept),
    }
}

/// What can't be read.
pub(super) fn unreadable(file: &str, error: &ArrayError) -> Finding {
    Finding::wrong(FindingKind::Unreadable, file, error.to_string())
}

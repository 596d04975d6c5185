//! Findings of a verification.

use std::fmt;

use tdb_array::ArrayError;

/// A problem that a verification has found, or a note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Subject of the finding.
    pub kind: FindingKind,
    /// Severity of the finding.
    pub severity: Severity,
    /// Full path of the file or folder.
    pub file: String,
    /// Name of the field. `None` if the finding does not concern a single field.
    pub field: Option<String>,
    /// Index of the tile within the fragment. `None` if the finding does not concern a single tile.
    pub tile: Option<u64>,
    /// Description of the problem, with the expected and found values.
    pub what: String,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Data was changed, lost or never correct.
    Finding,
    /// Harmless: a known quirk of some releases, or wasted space.
    Note,
}

/// Subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// A missing or damaged file, or a damaged part of a file.
    Unreadable,
    /// A file whose size differs from the size in the metadata.
    FileSize,
    /// Impossible numbers of tiles or cells.
    Counts,
    /// A fragment without a commit.
    Uncommitted,
    /// A journal of an interrupted or running consolidation of fragments.
    Interrupted,
    /// Superseded fragments or metadata files whose replacement is missing or damaged.
    Replacement,
    /// Unused files.
    Unused,
    /// Two copies of the same data that differ.
    Copies,
    /// The minimum of a tile, or of the whole fragment.
    Minimum,
    /// The maximum of a tile, or of the whole fragment.
    Maximum,
    /// The sum over a tile, or over the whole fragment.
    Sum,
    /// The number of nulls in a tile, or in the whole fragment.
    NullCount,
    /// The MBR of a tile.
    Mbr,
    /// Inner nodes of the R-tree.
    RTree,
    /// The non-empty domain of a fragment.
    NonEmptyDomain,
    /// The order of cells.
    CellOrder,
    /// Cells with equal coordinates in a fragment of an array without duplicates.
    Duplicates,
    /// A member of a group.
    Member,
    /// A malformed manifest, or a manifest with differences to the files.
    Manifest,
    /// The number of findings that are not listed.
    More,
}

impl FindingKind {
    /// Returns a machine-readable name.
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
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Sum => "sum",
            Self::NullCount => "null-count",
            Self::Mbr => "mbr",
            Self::RTree => "r-tree",
            Self::NonEmptyDomain => "non-empty-domain",
            Self::CellOrder => "cell-order",
            Self::Duplicates => "duplicates",
            Self::Member => "member",
            Self::Manifest => "manifest",
            Self::More => "more",
        }
    }
}

impl Severity {
    /// Returns a machine-readable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Finding => "finding",
            Self::Note => "note",
        }
    }
}

impl Finding {
    /// Creates a finding about a file.
    pub(super) fn wrong(kind: FindingKind, file: impl Into<String>, what: impl Into<String>) -> Self {
        let (file, what) = (file.into(), what.into());
        Self { kind, severity: Severity::Finding, file, field: None, tile: None, what }
    }

    /// Creates a note about a file.
    pub(super) fn note(kind: FindingKind, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::wrong(kind, file, what) }
    }

    /// Sets the field.
    pub(super) fn of_field(self, field: &str) -> Self {
        Self { field: Some(field.to_owned()), ..self }
    }

    /// Sets the tile.
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

/// Keeps an error as a result to report. Fails if the error is a cancellation.
pub(super) fn kept<T>(result: Result<T, ArrayError>) -> Result<Result<T, ArrayError>, ArrayError> {
    match result {
        Err(ArrayError::Cancelled) => Err(ArrayError::Cancelled),
        kept => Ok(kept),
    }
}

/// Creates a finding about an unreadable file.
pub(super) fn unreadable(file: &str, error: &impl fmt::Display) -> Finding {
    Finding::wrong(FindingKind::Unreadable, file, error.to_string())
}

//! Errors of fragment metadata.

use tdb_generic_tile::GenericTileError;
use tdb_generic_tile::tdb_filters::KeyProblem;
use tdb_rtree::RTreeError;
use tdb_types::{DecodeError, FormatVersion};

use crate::field::FragmentField;
use crate::section::SectionId;

/// A result with a [`FragmentError`].
pub type Result<T, E = FragmentError> = std::result::Result<T, E>;

/// An error of reading, writing or querying fragment metadata.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// The bytes are truncated, contradict the format or the schema, or exceed a limit.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile of a section cannot be read or written.
    #[error("{section}: {source}")]
    Section {
        /// The section.
        section: SectionId,
        /// The cause.
        source: Box<GenericTileError>,
    },
    /// The generic tile of a whole file cannot be read or written.
    #[error("{what}: {source}")]
    File {
        /// The contents of the file.
        what: &'static str,
        /// The cause.
        source: Box<GenericTileError>,
    },
    /// A range cannot be represented, or does not match the dimensions.
    #[error(transparent)]
    Range(#[from] RTreeError),
    /// The values contradict each other or the schema.
    #[error("{what}: found {found}, expected {expected}")]
    Inconsistent {
        /// The contradictory value.
        what: &'static str,
        /// The value found.
        found: String,
        /// The value expected.
        expected: String,
    },
    /// Before format 10, the schema is needed to locate the footer.
    #[error(
        "locating the footer of a fragment of format version {version} requires the array's schema; load the schema first"
    )]
    SchemaNeeded {
        /// The fragment's format version.
        version: FormatVersion,
    },
    /// The fragment or its schema does not have the field.
    #[error("the fragment has no {field}")]
    NoSuchField {
        /// The requested field.
        field: FragmentField,
    },
    /// The fragment does not have the section.
    #[error(
        "the fragment has no {section}: format version {version} or this kind of fragment does not store the section"
    )]
    NoSuchSection {
        /// The requested section.
        section: SectionId,
        /// The fragment's format version.
        version: FormatVersion,
    },
    /// The name of a field cannot be part of the name of a data file.
    #[error("{name:?} is not a valid file name in the fragment's folder")]
    UnsafeFileName {
        /// The name.
        name: String,
    },
}

impl FragmentError {
    /// Returns the problem with the encryption key, or `None` if the error has another cause.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            Self::Section { source, .. } | Self::File { source, .. } => source.key_problem(),
            _ => None,
        }
    }

    #[cold]
    pub(crate) fn inconsistent(
        what: &'static str,
        found: impl std::fmt::Display,
        expected: impl std::fmt::Display,
    ) -> Self {
        Self::Inconsistent { what, found: found.to_string(), expected: expected.to_string() }
    }
}

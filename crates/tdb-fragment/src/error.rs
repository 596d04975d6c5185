//! What can be wrong with fragment metadata.

use tdb_generic_tile::GenericTileError;
use tdb_generic_tile::tdb_filters::KeyProblem;
use tdb_rtree::RTreeError;
use tdb_types::{DecodeError, FormatVersion};

use crate::field::FragmentField;
use crate::section::SectionId;

/// A result whose error is a [`FragmentError`].
pub type Result<T, E = FragmentError> = std::result::Result<T, E>;

/// What can be wrong with fragment metadata, or with a question asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FragmentError {
    /// The bytes contradict the format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile around a section can't be read.
    #[error("{section}: {source}")]
    Section {
        /// The section.
        section: SectionId,
        /// Why.
        source: Box<GenericTileError>,
    },
    /// The generic tile that is the whole of a file can't be read.
    #[error("{what}: {source}")]
    File {
        /// What the file holds.
        what: &'static str,
        /// Why.
        source: Box<GenericTileError>,
    },
    /// A range can't be expressed, or doesn't suit the dimensions.
    #[error(transparent)]
    Range(#[from] RTreeError),
    /// The values contradict each other or the schema.
    #[error("{what}: found {found}, expected {expected}")]
    Inconsistent {
        /// Which value.
        what: &'static str,
        /// What it is.
        found: String,
        /// What it has to be.
        expected: String,
    },
    /// Before format 10 the footer can only be found with the schema at hand.
    #[error("finding the footer of a fragment of format version {version} takes the array's schema; load it first")]
    SchemaNeeded {
        /// The fragment's format version.
        version: FormatVersion,
    },
    /// The fragment or its schema has no such field.
    #[error("the fragment has no {field}")]
    NoSuchField {
        /// The field asked for.
        field: FragmentField,
    },
    /// The fragment has no such section.
    #[error("the fragment has no {section}; format version {version} or the fragment's kind lacks it")]
    NoSuchSection {
        /// The section asked for.
        section: SectionId,
        /// The fragment's format version.
        version: FormatVersion,
    },
    /// A name in the metadata would lead out of the fragment's folder.
    #[error("{name:?} can't be a file name in the fragment's folder")]
    UnsafeFileName {
        /// The name.
        name: String,
    },
}

impl FragmentError {
    /// What is the matter with the key that was given, or wasn't, if that is the trouble.
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

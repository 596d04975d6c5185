//! Errors of schemas and enumerations.

use tdb_filters::{FilterError, KeyProblem};
use tdb_generic_tile::GenericTileError;
use tdb_rtree::RTreeError;
use tdb_types::DecodeError;

/// An error from reading, building or using a schema or an enumeration.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The bytes are damaged, or are not a schema or an enumeration.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile of the schema or enumeration cannot be read or written.
    #[error(transparent)]
    GenericTile(#[from] GenericTileError),
    /// The schema's format version cannot represent a filter.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A range, such as the current domain, cannot be written.
    #[error(transparent)]
    Range(#[from] RTreeError),
    /// The parsed or built schema contradicts itself or the format, or breaks a rule for new
    /// schemas.
    #[error("{what}: {why}")]
    Invalid {
        /// The part of the schema, such as `dimension "rows"`.
        what: String,
        /// The contradiction.
        why: String,
    },
    /// The schema is sound but uses an unsupported feature.
    #[error("{what}: {why}; try a newer release of this library")]
    Unsupported {
        /// The part of the schema that uses the feature.
        what: String,
        /// The unsupported feature.
        why: String,
    },
}

impl SchemaError {
    #[cold]
    pub(crate) fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into() }
    }

    #[cold]
    pub(crate) fn unsupported(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into(), why: why.into() }
    }

    /// Returns the problem with the encryption key, or `None` if the error has another cause.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            Self::GenericTile(error) => error.key_problem(),
            _ => None,
        }
    }

    /// Returns `true` if the bytes use an unsupported feature rather than being damaged.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Unsupported { .. } => true,
            Self::Decode(error) => error.is_unsupported(),
            Self::GenericTile(error) => error.is_unsupported(),
            Self::Filter(_) | Self::Range(_) | Self::Invalid { .. } => false,
        }
    }
}

/// A result with a [`SchemaError`].
pub type Result<T, E = SchemaError> = std::result::Result<T, E>;

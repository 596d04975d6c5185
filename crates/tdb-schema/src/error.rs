//! What can be wrong with a schema.

use tdb_filters::{FilterError, KeyProblem};
use tdb_generic_tile::GenericTileError;
use tdb_rtree::RTreeError;
use tdb_types::DecodeError;

/// Why a schema or an enumeration can't be read, built or used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The bytes aren't a schema (or an enumeration).
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The generic tile around the bytes can't be unfiltered or filtered.
    #[error(transparent)]
    GenericTile(#[from] GenericTileError),
    /// A filter can't be written in the schema's version.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A range can't be written.
    #[error(transparent)]
    Range(#[from] RTreeError),
    /// The bytes, or the builder's calls, spell something that contradicts itself or the format.
    #[error("{what}: {why}")]
    Invalid {
        /// Which part of the schema, such as `dimension "rows"`.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The schema is sound, but uses what this library doesn't know yet.
    #[error("{what}: {why}; a newer release of this library may read it")]
    Unsupported {
        /// Which part of the schema.
        what: String,
        /// What isn't known.
        why: String,
    },
}

impl SchemaError {
    /// Shorthand for [`SchemaError::Invalid`].
    #[cold]
    pub(crate) fn invalid(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), why: why.into() }
    }

    /// Shorthand for [`SchemaError::Unsupported`].
    #[cold]
    pub(crate) fn unsupported(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into(), why: why.into() }
    }

    /// What is the matter with the key that was given, or wasn't, if that is the trouble.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            Self::GenericTile(error) => error.key_problem(),
            _ => None,
        }
    }

    /// Whether the bytes are beyond what this library knows, rather than broken.
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

/// A result whose error says what is wrong with a schema.
pub type Result<T, E = SchemaError> = std::result::Result<T, E>;

//! Errors of generic tiles.

use tdb_filters::{FilterError, KeyProblem};
use tdb_types::{DecodeError, Encryption};

/// A result with a [`GenericTileError`].
pub type Result<T, E = GenericTileError> = std::result::Result<T, E>;

/// An error of reading or writing a generic tile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenericTileError {
    /// The bytes are truncated, contradict the format, or exceed a limit. Includes errors in the
    /// payload.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The filtered bytes cannot be unfiltered, or the key is wrong. Offsets in the source count
    /// from the start of the filtered bytes.
    #[error("filtered bytes of the generic tile at {offset:#x}: {source}")]
    Filter {
        /// The offset of the tile.
        offset: u64,
        /// The cause.
        source: FilterError,
    },
    /// The tile is encrypted, but no key was given.
    #[error("generic tile at {offset:#x}: encrypted with {encryption}; pass the key")]
    KeyNeeded {
        /// The offset of the tile.
        offset: u64,
        /// The encryption of the tile.
        encryption: Encryption,
    },
    /// A key was given, but the tile is not encrypted. Either the array is not encrypted, or an
    /// attacker replaced the tile.
    #[error("generic tile at {offset:#x}: not encrypted, but a key was given; do not pass a key")]
    KeyNotNeeded {
        /// The offset of the tile.
        offset: u64,
    },
    /// The payload cannot be filtered, or the version does not support a filter.
    #[error("cannot write generic tile: {source}")]
    Encode {
        /// The cause.
        source: FilterError,
    },
}

impl GenericTileError {
    /// Returns `true` if the bytes may be sound but need a newer release or another build.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Decode(error) => error.is_unsupported(),
            Self::Filter { source, .. } | Self::Encode { source } => source.is_unsupported(),
            Self::KeyNeeded { .. } | Self::KeyNotNeeded { .. } => false,
        }
    }

    /// Returns the problem with the encryption key, or `None` if the error has another cause.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self {
            Self::KeyNeeded { .. } => Some(KeyProblem::Missing),
            Self::KeyNotNeeded { .. } => Some(KeyProblem::NotNeeded),
            Self::Filter { source, .. } | Self::Encode { source } => source.key_problem(),
            Self::Decode(_) => None,
        }
    }
}

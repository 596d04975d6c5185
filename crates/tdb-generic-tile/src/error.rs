//! What can go wrong with a generic tile.

use tdb_filters::{FilterError, KeyProblem};
use tdb_types::{DecodeError, Encryption};

/// A result of reading or writing a generic tile.
pub type Result<T, E = GenericTileError> = std::result::Result<T, E>;

/// Why a generic tile could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenericTileError {
    /// The header contradicts the format, the bytes end too early, or the tile is larger than allowed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The filtered bytes can't be unfiltered. Offsets in the source count from the first of them.
    #[error("filtered bytes of the generic tile at {offset:#x}: {source}")]
    Filter {
        /// Where the tile begins.
        offset: u64,
        /// What was wrong.
        source: FilterError,
    },
    /// The tile is encrypted, and no key was given.
    #[error("generic tile at {offset:#x}: encrypted by {encryption}; give the key")]
    KeyNeeded {
        /// Where the tile begins.
        offset: u64,
        /// How it is encrypted.
        encryption: Encryption,
    },
    /// A key was given, and the tile is not encrypted: the array isn't, or somebody has put a tile of their own into it.
    #[error("generic tile at {offset:#x}: not encrypted, but a key was given; give none")]
    KeyNotNeeded {
        /// Where the tile begins.
        offset: u64,
    },
    /// The payload can't be filtered.
    #[error("a generic tile could not be written: {source}")]
    Encode {
        /// What was wrong.
        source: FilterError,
    },
}

impl GenericTileError {
    /// Whether the bytes may be sound, but beyond this release or this build.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Decode(error) => error.is_unsupported(),
            Self::Filter { source, .. } | Self::Encode { source } => source.is_unsupported(),
            Self::KeyNeeded { .. } | Self::KeyNotNeeded { .. } => false,
        }
    }

    /// What is the matter with the key that was given, or wasn't, if that is the trouble.
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

//! Why the metadata of a fragment can't be rebuilt.

use tdb_array::ErrorCategory;

/// Why the metadata of a fragment can't be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildProblem {
    /// There is no such fragment.
    #[error("no commit of the array names a fragment of this name, and no folder of formats 1 to 4 has it")]
    NoFragment,
    /// No schema has these fields.
    #[error("no schema of the array has the fields that the data files are of: {files}")]
    NoSchema {
        /// The files.
        files: String,
    },
    /// Of a dense fragment only its tiles are known, and not where they lie.
    #[error("it is dense, and its {tiles} tiles don't say where they lie: give the domain that it was written over")]
    Domain {
        /// How many tiles there are.
        tiles: u64,
    },
    /// The domain is none of this fragment.
    #[error("the domain that was given has {expected} tiles, and the data files have {tiles}")]
    OtherDomain {
        /// Tiles of the domain.
        expected: u64,
        /// Tiles of the files.
        tiles: u64,
    },
    /// The tiles of a file can't be told from each other.
    #[error("{file}: tile {tile}, at byte {offset}: {what}; the {tile} tiles before it can be saved")]
    Cut {
        /// The file's name.
        file: String,
        /// The first tile that is damaged.
        tile: u64,
        /// Where it begins.
        offset: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Files of one fragment say different things.
    #[error("{file}: {what}")]
    Disagree {
        /// The file's name.
        file: String,
        /// What doesn't fit.
        what: String,
    },
    /// The name and the data files are those of either of two formats, and say different things in them.
    #[error(
        "the coordinates can be read as those of format {0} and of format {1}: both or neither make sense, and the name may be of either"
    )]
    Either(u32, u32),
    /// Nothing says how many cells there are.
    #[error("no file says how many cells the tiles have")]
    NoCount,
}

impl RebuildProblem {
    pub(super) fn category(&self) -> ErrorCategory {
        match self {
            Self::NoFragment => ErrorCategory::Unavailable,
            Self::Domain { .. } | Self::OtherDomain { .. } => ErrorCategory::Usage,
            _ => ErrorCategory::Corrupt,
        }
    }
}

use tdb_array::ErrorCategory;

/// The reason why the metadata of a fragment cannot be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildProblem {
    /// The array has no fragment with this name.
    #[error("no commit of the array names this fragment, and no fragment folder of formats 1 to 4 has this name")]
    NoFragment,
    /// No schema has the fields of the data files.
    #[error("no schema of the array has the fields of the data files: {files}")]
    NoSchema {
        /// Names of the data files.
        files: String,
    },
    /// The fragment is dense, and its data files do not contain the domain.
    #[error(
        "the fragment is dense, and the positions of its {tiles} tiles are not stored: give the domain that was written"
    )]
    Domain {
        /// Number of tiles.
        tiles: u64,
    },
    /// The given domain has another number of tiles than the data files.
    #[error("the number of tiles differs: the given domain has {expected}, the data files have {tiles}")]
    OtherDomain {
        /// Number of tiles of the domain.
        expected: u64,
        /// Number of tiles of the data files.
        tiles: u64,
    },
    /// A tile is damaged, so that the positions of the following tiles in the file are unknown.
    #[error("{file}: tile {tile} at offset {offset}: {what}; the {tile} tiles before it can be recovered")]
    Cut {
        /// Name of the file.
        file: String,
        /// Index of the first damaged tile.
        tile: u64,
        /// Byte offset of the damaged tile.
        offset: u64,
        /// Kind of damage.
        what: &'static str,
    },
    /// The files of the fragment contradict each other.
    #[error("{file}: {what}")]
    Disagree {
        /// Name of the file.
        file: String,
        /// Description of the contradiction.
        what: String,
    },
    /// The name and the data files fit two format versions, which store coordinates differently.
    #[error(
        "the coordinates fit both format version {0} and format version {1}, or neither, and so does the name of the fragment"
    )]
    Either(u32, u32),
    /// No file determines the number of cells.
    #[error("no file contains the number of cells of the tiles")]
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

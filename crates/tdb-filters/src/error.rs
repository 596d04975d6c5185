//! What can go wrong between a tile and its filtered bytes.

use tdb_types::{Datatype, DecodeError, FormatVersion};

use crate::KeyProblem;

/// Why a tile could not be decoded or encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The framing of chunks or the header of a filter contradicts the format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The trouble lies in one chunk.
    #[error("chunk {chunk}: {source}")]
    Chunk {
        /// Number of the chunk in its tile, from 0.
        chunk: u64,
        /// What was wrong.
        source: Box<FilterError>,
    },
    /// The pipeline has a filter that this library doesn't know.
    #[error("filter code {code} is not known; a newer release of this library may have it")]
    UnknownFilter {
        /// The code in the pipeline.
        code: u8,
    },
    /// The tile is encrypted, and no key was given.
    #[error("the tile is encrypted; give the array's key")]
    KeyRequired,
    /// What was given as a key has another length than keys have.
    #[error("a key has {} bytes, not {found}", crate::key_problem::KEY_LEN)]
    KeyLength {
        /// Bytes that were given.
        found: usize,
    },
    /// Bytes are not authentic under the key that was given.
    #[error(
        "{filter}: the bytes are not authentic: the key is not the one that they were written with, \
         or they were damaged or changed"
    )]
    NotAuthentic {
        /// Name of the filter.
        filter: &'static str,
    },
    /// Encryption needs initialisation vectors, which only the caller can give.
    #[error("encryption needs initialisation vectors; give the scratch memory a source of them")]
    IvsRequired,
    /// The filter was left out of this build.
    #[error("this build has no {filter}; enable the feature `{feature}` of tdb-filters")]
    CodecDisabled {
        /// Name of the filter.
        filter: &'static str,
        /// Cargo feature that brings it.
        feature: &'static str,
    },
    /// Stored digest and data differ.
    #[error("{filter}: the digest of {part} differs from the stored one; the tile is damaged")]
    ChecksumMismatch {
        /// Name of the filter.
        filter: &'static str,
        /// `data` or `metadata`.
        part: &'static str,
    },
    /// The bytes contradict what the filter can have written.
    #[error("{filter}: {what}")]
    Corrupt {
        /// Name of the filter.
        filter: &'static str,
        /// What is wrong with them.
        what: &'static str,
    },
    /// Something has another size than it must have.
    #[error("{what}: expected {expected} bytes, found {found}")]
    WrongSize {
        /// What was measured.
        what: &'static str,
        /// The size that it must have.
        expected: u64,
        /// The size that it has.
        found: u64,
    },
    /// A tile of strings holds another number of cells than the fragment says.
    #[error("{filter}: expected {expected} cells, found {found}")]
    WrongCellCount {
        /// Name of the filter.
        filter: &'static str,
        /// The number that the fragment says.
        expected: u64,
        /// The number found (or the number at which reading stopped).
        found: u64,
    },
    /// The bytes ask for more memory than allowed.
    #[error("{what} asks for {asked} bytes, the limit is {max}; raise the limit if the file is trusted")]
    LimitExceeded {
        /// What asks.
        what: &'static str,
        /// Bytes that it asks for.
        asked: u64,
        /// Bytes that are allowed.
        max: u64,
    },
    /// A chunk claims to be stored in more bytes than filters can have made of its own.
    #[error(
        "a chunk of {unfiltered} bytes stored in {stored} is more than the {max} that filters make of it; \
         the tile is damaged, or the limit on tiles too low"
    )]
    ImplausibleChunk {
        /// Bytes that it is stored in.
        stored: u64,
        /// Bytes that it has without filters.
        unfiltered: u64,
        /// Bytes that are allowed.
        max: u64,
    },
    /// A chunk claims that more bytes lie between two of its filters than can be.
    #[error(
        "{asked} bytes between two filters are more than the {max} that a chunk of its size may need; \
         the tile is damaged, or the limit on tiles too low"
    )]
    ImplausibleGrowth {
        /// Bytes that the chunk claims.
        asked: u64,
        /// Bytes that are allowed.
        max: u64,
    },
    /// A filter can't work on the datatype that reaches it.
    #[error("{filter} does not work on {datatype}; {hint}")]
    UnsupportedDatatype {
        /// Name of the filter.
        filter: &'static str,
        /// The datatype that reaches it.
        datatype: Datatype,
        /// What would work.
        hint: &'static str,
    },
    /// An option of a filter has no meaning.
    #[error("{filter}: {option} is {found}, expected {expected}")]
    InvalidOption {
        /// Name of the filter.
        filter: &'static str,
        /// Name of the option.
        option: &'static str,
        /// What was found.
        found: String,
        /// What the format allows.
        expected: &'static str,
    },
    /// This version of the format can't express something.
    #[error("format version {version} does not have {what}")]
    NotInVersion {
        /// What it lacks.
        what: &'static str,
        /// The version.
        version: FormatVersion,
    },
    /// The tile's own description makes no sense (a cell size of 0, say).
    #[error("{what} can't be {found}; expected {expected}")]
    InvalidTile {
        /// What is wrong with it.
        what: &'static str,
        /// The value found.
        found: u64,
        /// What would be right.
        expected: &'static str,
    },
    /// A tile can't be written because what reaches a filter doesn't consist of whole values, and it could not be read
    /// back.
    #[error(
        "{filter}: {len} bytes are not a whole number of values of {unit} bytes; \
         move the filter before those that change lengths"
    )]
    PartialValue {
        /// Name of the filter.
        filter: &'static str,
        /// Bytes that reach it.
        len: u64,
        /// Bytes of one of its values.
        unit: u64,
    },
    /// A tile can't be written because values fall where the filter needs them not to.
    #[error("{filter}: value {index} is less than the one before; the filter needs values that never fall")]
    NotAscending {
        /// Name of the filter.
        filter: &'static str,
        /// Number of the value that falls, in its chunk.
        index: u64,
    },
    /// A value can't be written because the filter can't represent it.
    #[error("{filter}: value {index} is {value}, expected {expected}")]
    OutOfRange {
        /// Name of the filter.
        filter: &'static str,
        /// Number of the value, in its chunk or among those that were checked.
        index: u64,
        /// The value.
        value: Box<str>,
        /// The values that the filter can represent.
        expected: Box<str>,
    },
    /// A tile of strings can't be written without the offsets of its cells.
    #[error("{filter}: the offsets of the cells are needed")]
    OffsetsRequired {
        /// Name of the filter.
        filter: &'static str,
    },
    /// Offsets of cells don't ascend from 0, or point past the tile.
    #[error("offset {index} is {offset}; offsets start at 0, never fall, and stay within the {len} bytes of the tile")]
    InvalidOffset {
        /// Number of the cell.
        index: u64,
        /// Its offset.
        offset: u64,
        /// Bytes of the tile.
        len: u64,
    },
    /// Something is too long for the 32 bits that the format has for it.
    #[error("{what} is {len}, the format has 32 bits for it")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// How long it is.
        len: u64,
    },
    /// A codec could make nothing of the bytes.
    #[error("{filter}: {message}")]
    Decoder {
        /// Name of the filter.
        filter: &'static str,
        /// What the codec said.
        message: String,
    },
    /// A codec refused to compress.
    #[error("{filter} could not compress: {message}")]
    Encoder {
        /// Name of the filter.
        filter: &'static str,
        /// What the codec said.
        message: String,
    },
}

impl FilterError {
    /// The innermost error, without the chunk that it lies in.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::Chunk { source, .. } => source.root(),
            other => other,
        }
    }

    /// Whether the bytes may be sound, but beyond this release or this build.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self.root() {
            Self::UnknownFilter { .. } | Self::CodecDisabled { .. } => true,
            Self::Decode(error) => error.is_unsupported(),
            _ => false,
        }
    }

    /// What is the matter with the key that was given, or wasn't, if that is the trouble.
    #[must_use]
    pub fn key_problem(&self) -> Option<KeyProblem> {
        match self.root() {
            Self::KeyRequired => Some(KeyProblem::Missing),
            Self::NotAuthentic { .. } => Some(KeyProblem::Wrong),
            Self::KeyLength { .. } => Some(KeyProblem::Length),
            _ => None,
        }
    }
}

/// A length as the `u32` that the format stores.
pub(crate) fn length_u32(what: &'static str, len: usize) -> Result<u32, FilterError> {
    u32::try_from(len).map_err(|_| FilterError::TooLong { what, len: len as u64 })
}

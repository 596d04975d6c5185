//! Errors of decoding and encoding tiles.

use tdb_types::{Datatype, DecodeError, FormatVersion};

use crate::KeyProblem;

/// The error of decoding or encoding a tile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The framing of chunks or the header of a filter violates the format.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An error in one chunk.
    #[error("chunk {chunk}: {source}")]
    Chunk {
        /// Index of the chunk in the tile.
        chunk: u64,
        /// The error.
        source: Box<FilterError>,
    },
    /// The pipeline contains a filter unknown to this library.
    #[error("unknown filter code {code}; try a newer release of this library")]
    UnknownFilter {
        /// The code in the pipeline.
        code: u8,
    },
    /// The tile is encrypted, but no key was given.
    #[error("the tile is encrypted; pass the array's key")]
    KeyRequired,
    /// The given key has the wrong length.
    #[error("expected a key of {} bytes, found {found}", crate::key_problem::KEY_LEN)]
    KeyLength {
        /// Length of the given key, in bytes.
        found: usize,
    },
    /// Decryption failed: the key is wrong, or the bytes are damaged.
    #[error(
        "{filter}: authentication failed: the key is wrong, \
         or the bytes are damaged or modified"
    )]
    NotAuthentic {
        /// Name of the filter.
        filter: &'static str,
    },
    /// Encryption requires initialization vectors, which only the caller can provide.
    #[error("encryption needs initialization vectors; pass a source of vectors to the scratch memory")]
    IvsRequired,
    /// The build does not include the filter.
    #[error("this build does not include {filter}; enable the feature `{feature}` of tdb-filters")]
    CodecDisabled {
        /// Name of the filter.
        filter: &'static str,
        /// Cargo feature that enables the filter.
        feature: &'static str,
    },
    /// The stored digest differs from the digest of the data.
    #[error("{filter}: the digest of {part} differs from the stored digest; the tile is damaged")]
    ChecksumMismatch {
        /// Name of the filter.
        filter: &'static str,
        /// `data` or `metadata`.
        part: &'static str,
    },
    /// The bytes are not valid output of the filter.
    #[error("{filter}: {what}")]
    Corrupt {
        /// Name of the filter.
        filter: &'static str,
        /// The violation.
        what: &'static str,
    },
    /// A size is wrong.
    #[error("{what}: expected {expected} bytes, found {found}")]
    WrongSize {
        /// The measured object.
        what: &'static str,
        /// The expected size, in bytes.
        expected: u64,
        /// The actual size, in bytes.
        found: u64,
    },
    /// The number of strings in a tile differs from the expected number of cells.
    #[error("{filter}: expected {expected} cells, found {found}")]
    WrongCellCount {
        /// Name of the filter.
        filter: &'static str,
        /// The expected number of cells of the tile.
        expected: u64,
        /// The number of strings found, or the number at which decoding stopped.
        found: u64,
    },
    /// A size in the bytes exceeds the limit.
    #[error("{what}: {asked} bytes exceed the limit of {max}; raise the limit if the file is trusted")]
    LimitExceeded {
        /// The oversized object.
        what: &'static str,
        /// The requested size, in bytes.
        asked: u64,
        /// The limit, in bytes.
        max: u64,
    },
    /// The stored size of a chunk is larger than realistic filters can produce.
    #[error(
        "a chunk of {unfiltered} bytes stored in {stored} exceeds the maximum of {max} that its filters can produce; \
         the tile is damaged, or the limit on tiles is too low"
    )]
    ImplausibleChunk {
        /// Stored size, in bytes.
        stored: u64,
        /// Unfiltered size, in bytes.
        unfiltered: u64,
        /// Maximum size, in bytes.
        max: u64,
    },
    /// The claimed size between two filters is larger than realistic filters need for a chunk of
    /// this size.
    #[error(
        "{asked} bytes between two filters exceed the maximum of {max} for a chunk of this size; \
         the tile is damaged, or the limit on tiles is too low"
    )]
    ImplausibleGrowth {
        /// Claimed size, in bytes.
        asked: u64,
        /// Maximum size, in bytes.
        max: u64,
    },
    /// A filter does not support the datatype at its position.
    #[error("{filter} does not support {datatype}; {hint}")]
    UnsupportedDatatype {
        /// Name of the filter.
        filter: &'static str,
        /// The datatype.
        datatype: Datatype,
        /// A suggestion.
        hint: &'static str,
    },
    /// An option of a filter is invalid.
    #[error("{filter}: {option}: found {found}, expected {expected}")]
    InvalidOption {
        /// Name of the filter.
        filter: &'static str,
        /// Name of the option.
        option: &'static str,
        /// The value found.
        found: String,
        /// The values allowed by the format.
        expected: &'static str,
    },
    /// The format version cannot represent a filter or option.
    #[error("format version {version} does not have {what}")]
    NotInVersion {
        /// The missing feature.
        what: &'static str,
        /// The version.
        version: FormatVersion,
    },
    /// The description of the tile is invalid, such as a cell size of 0.
    #[error("{what}: found {found}, expected {expected}")]
    InvalidTile {
        /// The invalid property.
        what: &'static str,
        /// The value found.
        found: u64,
        /// The expected value.
        expected: &'static str,
    },
    /// The input of a filter does not consist of whole values, so that the tile could not be read
    /// back.
    #[error(
        "{filter}: {len} bytes are not a multiple of the value size of {unit} bytes; \
         move the filter before filters that change lengths"
    )]
    PartialValue {
        /// Name of the filter.
        filter: &'static str,
        /// Length of the input, in bytes.
        len: u64,
        /// Size of a value, in bytes.
        unit: u64,
    },
    /// Values decrease, but the filter requires ascending values.
    #[error("{filter}: value {index} is less than the previous value; expected values in ascending order")]
    NotAscending {
        /// Name of the filter.
        filter: &'static str,
        /// Index of the smaller value in the chunk.
        index: u64,
    },
    /// A value is outside the range of the filter.
    #[error("{filter}: value {index}: found {value}, expected {expected}")]
    OutOfRange {
        /// Name of the filter.
        filter: &'static str,
        /// Index of the value in the chunk, or among the checked values.
        index: u64,
        /// The value.
        value: Box<str>,
        /// The range of the filter.
        expected: Box<str>,
    },
    /// A tile of strings cannot be written without cell offsets.
    #[error("{filter}: the offsets of the cells are missing")]
    OffsetsRequired {
        /// Name of the filter.
        filter: &'static str,
    },
    /// Cell offsets do not ascend from 0, or exceed the tile.
    #[error(
        "offset {index}: found {offset}, expected offsets that start at 0, ascend and stay within the {len} bytes of the tile"
    )]
    InvalidOffset {
        /// Index of the cell.
        index: u64,
        /// The offset.
        offset: u64,
        /// Length of the tile, in bytes.
        len: u64,
    },
    /// A length exceeds the 32 bits available in the format.
    #[error("{what}: {len} exceeds the 32 bits of the format")]
    TooLong {
        /// The measured object.
        what: &'static str,
        /// The length.
        len: u64,
    },
    /// A codec rejected the bytes.
    #[error("{filter}: {message}")]
    Decoder {
        /// Name of the filter.
        filter: &'static str,
        /// The message of the codec.
        message: String,
    },
    /// A codec failed to compress.
    #[error("{filter}: cannot compress: {message}")]
    Encoder {
        /// Name of the filter.
        filter: &'static str,
        /// The message of the codec.
        message: String,
    },
}

impl FilterError {
    /// Returns the innermost error, without the enclosing chunk.
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::Chunk { source, .. } => source.root(),
            other => other,
        }
    }

    /// Returns `true` if the bytes may be sound but need another release or build of this library.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self.root() {
            Self::UnknownFilter { .. } | Self::CodecDisabled { .. } => true,
            Self::Decode(error) => error.is_unsupported(),
            _ => false,
        }
    }

    /// Returns the problem with the key, if the key caused the error.
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

/// Converts a length to the `u32` of the format.
pub(crate) fn length_u32(what: &'static str, len: usize) -> Result<u32, FilterError> {
    u32::try_from(len).map_err(|_| FilterError::TooLong { what, len: len as u64 })
}

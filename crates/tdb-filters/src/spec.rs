//! Descriptions of pipelines, independent of any codec.
//!
//! Builds without codecs can parse, compare, print and write schemas.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u32` | maximum chunk size in bytes, or 0 for one chunk per tile |
//! | `u32` | number of filters |
//! | per filter: `u8` | code |
//! | `u32` | length of the options in bytes |
//! | ... | options, see [`Filter`] |

mod filter;
mod text;
mod webp;

pub use filter::Filter;
pub use webp::{WebPFormat, WebPOptions};

use std::fmt;

use tdb_types::{ByteReader, ByteWriter, DecodeError, FormatVersion};

use crate::FilterError;

/// A list of filters, applied to a tile in order before storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPipeline {
    /// Stored chunk size, in bytes. Readers ignore it. Current writers only distinguish 0, which
    /// means one chunk per tile, from other values.
    pub max_chunk_size: u32,
    /// The filters in writing order.
    pub filters: Vec<Filter>,
}

impl FilterPipeline {
    /// The default chunk size: 64 KiB.
    pub const DEFAULT_MAX_CHUNK_SIZE: u32 = 65_536;

    /// Creates a pipeline of `filters` with the default chunk size.
    #[must_use]
    pub fn new(filters: Vec<Filter>) -> Self {
        Self { max_chunk_size: Self::DEFAULT_MAX_CHUNK_SIZE, filters }
    }

    /// Returns `true` if the pipeline has no filters. A dimension with an empty pipeline inherits
    /// the coordinate filters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Returns the work of unfiltering `bytes` bytes, as the number of bytes that Zstandard
    /// decompresses in about the same time. Without filters, the bytes are only copied.
    #[must_use]
    pub fn work(&self, bytes: u64) -> u64 {
        let copies = 1 + self.filters.iter().map(Filter::copies).sum::<u64>();
        bytes.saturating_mul(copies) / (1 + Filter::Zstd { level: Filter::DEFAULT_LEVEL }.copies())
    }

    /// Returns the pipeline of generic tiles: zlib at level 1.
    #[must_use]
    pub fn generic_tile() -> Self {
        Self::new(vec![Filter::Gzip { level: 1 }])
    }

    /// Returns the default pipeline of coordinates: zstd.
    #[must_use]
    pub fn default_coords() -> Self {
        Self::new(vec![Filter::Zstd { level: Filter::DEFAULT_LEVEL }])
    }

    /// Returns the default pipeline of offsets tiles: zstd.
    #[must_use]
    pub fn default_offsets() -> Self {
        Self::default_coords()
    }

    /// Returns the default pipeline of validity tiles: run-length encoding.
    #[must_use]
    pub fn default_validity() -> Self {
        Self::new(vec![Filter::Rle { level: Filter::DEFAULT_LEVEL }])
    }

    /// Returns the pipeline for tiles of an encrypted array, with encryption as the last filter.
    /// Schemas store the pipeline without encryption.
    #[must_use]
    pub fn encrypted(&self) -> Self {
        let mut pipeline = self.clone();
        pipeline.filters.push(Filter::Aes256Gcm);
        pipeline
    }

    /// Reads a pipeline as stored by `version`, the version of the schema or of the generic tile's
    /// header.
    ///
    /// Options are skipped by their stated length, so that later versions may extend them. An
    /// unknown code becomes [`Filter::Unknown`].
    ///
    /// # Errors
    /// Fails if the bytes are truncated or an option is invalid.
    pub fn parse(reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        reader.group(
            || "filter pipeline".to_owned(),
            |reader| {
                let max_chunk_size = reader.u32("maximum chunk size")?;
                let count = reader.u32("number of filters")?;
                let count = reader.count("filters", u64::from(count), Filter::MIN_STORED_BYTES)?;
                let filter =
                    |index| reader.group(|| format!("filter {index}"), |reader| Filter::parse(reader, version));
                let filters = (0..count).map(filter).collect::<Result<_, _>>()?;
                Ok(Self { max_chunk_size, filters })
            },
        )
    }

    /// Writes the pipeline as stored by `version`, the inverse of [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`FilterError::NotInVersion`] if `version` cannot represent a filter or option, and
    /// [`FilterError::TooLong`] if a length exceeds 32 bits. An incomplete pipeline is then in
    /// `writer`.
    pub fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), FilterError> {
        writer.u32(self.max_chunk_size);
        writer.u32(crate::length_u32("number of filters", self.filters.len())?);
        self.filters.iter().try_for_each(|filter| filter.write(writer, version))
    }
}

impl Default for FilterPipeline {
    /// A pipeline without filters.
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl fmt::Display for FilterPipeline {
    /// Prints `byteshuffle | zstd(3)` or `no filters`, followed by a chunk size other than the
    /// default.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.filters.is_empty() {
            f.write_str("no filters")?;
        }
        for (index, filter) in self.filters.iter().enumerate() {
            let separator = if index == 0 { "" } else { " | " };
            write!(f, "{separator}{filter}")?;
        }
        match self.max_chunk_size {
            Self::DEFAULT_MAX_CHUNK_SIZE => Ok(()),
            0 => f.write_str(", not chunked"),
            bytes => write!(f, ", chunks of {bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests;

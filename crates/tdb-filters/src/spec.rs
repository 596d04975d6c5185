//! What a pipeline says: pure data, without any codec.
//!
//! A schema can be parsed, compared, printed and written again in a build that has no codec at all.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u32` | maximum chunk size in bytes; 0 means "one chunk per tile" |
//! | `u32` | number of filters |
//! | per filter: `u8` | code |
//! | `u32` | length of the options in bytes |
//! | … | options, see [`Filter`] |

mod filter;
mod text;
mod webp;

pub use filter::Filter;
pub use webp::{WebPFormat, WebPOptions};

use std::fmt;

use tdb_types::{ByteReader, ByteWriter, DecodeError, FormatVersion};

use crate::FilterError;

/// The filters that the cells of a tile go through on their way to storage, first to last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterPipeline {
    /// Bytes of a chunk, as stored. Readers never need it, and of today's writers only 0 has a meaning: the tile is
    /// one chunk. See [`DEFAULT_MAX_CHUNK_SIZE`](Self::DEFAULT_MAX_CHUNK_SIZE).
    pub max_chunk_size: u32,
    /// The filters in the order in which a writer applies them.
    pub filters: Vec<Filter>,
}

impl FilterPipeline {
    /// The maximum chunk size that is stored when nobody asked for another: 64 KiB.
    pub const DEFAULT_MAX_CHUNK_SIZE: u32 = 65_536;

    /// A pipeline of `filters` with the default chunk size.
    #[must_use]
    pub fn new(filters: Vec<Filter>) -> Self {
        Self { max_chunk_size: Self::DEFAULT_MAX_CHUNK_SIZE, filters }
    }

    /// Whether no filter is listed. (A dimension with an empty pipeline inherits the coordinate filters.)
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// The pipeline of every generic tile: zlib at level 1.
    #[must_use]
    pub fn generic_tile() -> Self {
        Self::new(vec![Filter::Gzip { level: 1 }])
    }

    /// The default pipeline of coordinates: zstd.
    #[must_use]
    pub fn default_coords() -> Self {
        Self::new(vec![Filter::Zstd { level: Filter::DEFAULT_LEVEL }])
    }

    /// The default pipeline of offsets tiles: zstd.
    #[must_use]
    pub fn default_offsets() -> Self {
        Self::default_coords()
    }

    /// The default pipeline of validity tiles: run lengths.
    #[must_use]
    pub fn default_validity() -> Self {
        Self::new(vec![Filter::Rle { level: Filter::DEFAULT_LEVEL }])
    }

    /// The pipeline that the tiles of this one's fields go through in an encrypted array: encryption comes last. Schemas
    /// don't store it.
    #[must_use]
    pub fn encrypted(&self) -> Self {
        let mut pipeline = self.clone();
        pipeline.filters.push(Filter::Aes256Gcm);
        pipeline
    }

    /// Reads a pipeline as stored by `version` (of the schema, or of the generic tile's header).
    ///
    /// Options are skipped by their stated length, so bytes that a later version may add to them do no harm; a code
    /// that the format doesn't have becomes [`Filter::Unknown`].
    ///
    /// # Errors
    /// Truncated, or an option that the format doesn't allow.
    pub fn parse(reader: &mut ByteReader<'_>, version: FormatVersion) -> Result<Self, DecodeError> {
        reader.group(
            || "filter pipeline".to_owned(),
            |reader| {
                let max_chunk_size = reader.u32("maximum chunk size")?;
                let count = reader.u32("number of filters")?;
                let count = reader.count("filters", u64::from(count), Filter::MIN_STORED_BYTES)?;
                let mut filters = Vec::with_capacity(count);
                for index in 0..count {
                    filters.push(reader.group(|| format!("filter {index}"), |reader| Filter::parse(reader, version))?);
                }
                Ok(Self { max_chunk_size, filters })
            },
        )
    }

    /// Writes the pipeline as `version` stores it; the mirror image of [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`FilterError::NotInVersion`] when `version` can't express a filter or one of its options.
    pub fn write(&self, writer: &mut ByteWriter, version: FormatVersion) -> Result<(), FilterError> {
        writer.u32(self.max_chunk_size);
        writer.u32(crate::length_u32("number of filters", self.filters.len())?);
        self.filters.iter().try_for_each(|filter| filter.write(writer, version))
    }
}

impl Default for FilterPipeline {
    /// No filters.
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl fmt::Display for FilterPipeline {
    /// `byteshuffle | zstd(3)`; `no filters`; a chunk size other than the default follows.
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

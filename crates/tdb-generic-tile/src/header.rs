//! Headers of generic tiles.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u32` | format version of the library that wrote the tile |
//! | `u64` | size of the filtered tile in bytes |
//! | `u64` | size of the payload in bytes |
//! | `u8` | datatype, always `char` |
//! | `u64` | cell size, always 1 |
//! | `u8` | encryption |
//! | `u32` | size of the pipeline in bytes |
//! | … | the filter pipeline |

use tdb_filters::{Filter, FilterError, FilterPipeline};
use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, DecodeErrorKind, Encryption, FormatVersion};

/// The header of a generic tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericTileHeader {
    /// The newest format version that the writing library supports. Independent of the version of
    /// the payload.
    pub version: FormatVersion,
    /// The size of the filtered tile after the header, in bytes.
    pub persisted_size: u64,
    /// The size of the unfiltered payload in bytes.
    pub tile_size: u64,
    /// The datatype of the payload for the filters. Every library writes `char`, but readers accept
    /// other datatypes.
    pub datatype: Datatype,
    /// The size of a cell for the filters, in bytes. Every library writes 1.
    pub cell_size: u64,
    /// The encryption of the tile.
    pub encryption: Encryption,
    /// The size of the pipeline in the header, in bytes.
    pub pipeline_size: u32,
    /// The filters of the payload.
    pub pipeline: FilterPipeline,
}

impl GenericTileHeader {
    /// The size of a header without its pipeline, in bytes.
    pub const FIXED_LEN: u64 = 34;

    /// The maximum number of filters in a pipeline.
    ///
    /// Each filter is a pass over the payload. Without a limit, a small file could occupy a reader
    /// for days. No library writes more than two filters.
    pub const MAX_FILTERS: usize = 32;

    /// Parses a header.
    ///
    /// # Errors
    /// - Fails if the bytes are truncated.
    /// - Fails if the version, the datatype, the encryption or an option of a filter is invalid.
    /// - Fails if the pipeline is shorter than its stored size, or has more than
    ///   [`MAX_FILTERS`](Self::MAX_FILTERS) filters.
    /// - Fails if the tile is encrypted but its pipeline has no encryption filter.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        reader.group(|| "generic tile header".to_owned(), Self::parse_fields)
    }

    fn parse_fields(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let (start, offset) = (reader.rest(), reader.offset());
        let version = FormatVersion::read(reader).map_err(|error| match is_before_versions(start) {
            true => DecodeError::new(DecodeErrorKind::BeforeVersions, "format version", offset),
            false => error,
        })?;
        let persisted_size = reader.u64("persisted size")?;
        let tile_size = reader.u64("tile size")?;
        let datatype = Datatype::read(reader, "datatype")?;
        let cell_size = reader.u64("cell size")?;
        let encryption = Encryption::read(reader, "encryption")?;
        let pipeline_size = reader.u32("pipeline size")?;
        let offset = reader.offset();
        let mut stored = reader.sub("filter pipeline", u64::from(pipeline_size))?;
        let pipeline = FilterPipeline::parse(&mut stored, version)?;
        stored.finish("filter pipeline")?;
        if pipeline.filters.len() > Self::MAX_FILTERS {
            let found = format!("{} filters", pipeline.filters.len());
            return Err(DecodeError::invalid("filter pipeline", offset, found, "at most 32 filters"));
        }
        if encryption != Encryption::None && !pipeline.filters.contains(&Filter::Aes256Gcm) {
            let expected = "an encryption filter, since the header declares encryption";
            return Err(DecodeError::invalid("filter pipeline", offset, pipeline, expected));
        }
        Ok(Self { version, persisted_size, tile_size, datatype, cell_size, encryption, pipeline_size, pipeline })
    }

    /// Writes the header, the inverse of [`parse`](Self::parse). Writes the actual size of the
    /// pipeline instead of [`pipeline_size`](Self::pipeline_size).
    ///
    /// # Errors
    /// Fails without writing if the version does not support a filter of the pipeline, or if the
    /// pipeline exceeds 4 GiB.
    pub fn write(&self, writer: &mut ByteWriter) -> Result<(), FilterError> {
        let mut pipeline = ByteWriter::new();
        self.pipeline.write(&mut pipeline, self.version)?;
        let pipeline_size = u32::try_from(pipeline.len())
            .map_err(|_| FilterError::TooLong { what: "the filter pipeline", len: pipeline.len() as u64 })?;
        writer.u32(self.version.number());
        writer.u64(self.persisted_size);
        writer.u64(self.tile_size);
        self.datatype.write(writer);
        writer.u64(self.cell_size);
        self.encryption.write(writer);
        writer.u32(pipeline_size);
        writer.bytes(pipeline.as_slice());
        Ok(())
    }

    /// Returns the size of the header in bytes.
    #[must_use]
    pub fn header_len(&self) -> u64 {
        Self::FIXED_LEN + u64::from(self.pipeline_size)
    }

    /// Returns the size of the header and the filtered tile in bytes. The next tile begins this
    /// many bytes after the start of the tile.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.header_len().saturating_add(self.persisted_size)
    }
}

/// Returns `true` if the bytes are the start of a generic tile of a release before 1.4.
///
/// These headers had no version: `u64` filtered size, `u64` payload size, `u8` datatype, `u64` cell
/// size, `u8` compressor (0 to 12), `i32` level. In these releases, every generic tile fills its
/// file.
fn is_before_versions(bytes: &[u8]) -> bool {
    let mut reader = ByteReader::new(bytes);
    let mut parse = || -> Result<bool, DecodeError> {
        let persisted_size = reader.u64("persisted size")?;
        let tile_size = reader.u64("tile size")?;
        let datatype = Datatype::read(&mut reader, "datatype")?;
        let cell_size = reader.u64("cell size")?;
        let compressor = reader.u8("compressor")?;
        reader.bytes("compression level", 4)?;
        let fits = reader.remaining() as u64 <= persisted_size;
        Ok(fits && tile_size > 0 && datatype == Datatype::Char && cell_size == 1 && compressor <= 12)
    };
    parse().unwrap_or(false)
}

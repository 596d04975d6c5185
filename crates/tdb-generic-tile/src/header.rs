//! What stands before the filtered bytes of a generic tile.
//!
//! | bytes | field |
//! | --- | --- |
//! | `u32` | format version of the library that wrote the tile |
//! | `u64` | bytes of the filtered tile |
//! | `u64` | bytes of the payload |
//! | `u8` | datatype, always `char` |
//! | `u64` | cell size, always 1 |
//! | `u8` | encryption |
//! | `u32` | bytes of the pipeline |
//! | … | the filter pipeline |

use tdb_filters::{Filter, FilterError, FilterPipeline};
use tdb_types::{ByteReader, ByteWriter, Datatype, DecodeError, DecodeErrorKind, Encryption, FormatVersion};

/// The header of a generic tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenericTileHeader {
    /// The newest format version that the library which wrote the tile knew; not the payload's.
    pub version: FormatVersion,
    /// Bytes of the filtered tile, which follows the header.
    pub persisted_size: u64,
    /// Bytes of the unfiltered payload.
    pub tile_size: u64,
    /// What the filters take the payload for. Every library writes `char`, but readers honour others.
    pub datatype: Datatype,
    /// Bytes of a cell, as the filters see it. Every library writes 1.
    pub cell_size: u64,
    /// Whether the tile can be read without a key.
    pub encryption: Encryption,
    /// Bytes that the pipeline takes in the header.
    pub pipeline_size: u32,
    /// What the payload went through.
    pub pipeline: FilterPipeline,
}

impl GenericTileHeader {
    /// Bytes of a header without its pipeline.
    pub const FIXED_LEN: u64 = 34;

    /// Most filters that a pipeline may list. Each costs a pass over the payload, so without a bound a small file could
    /// keep a reader busy for days; no library can be made to write more than two.
    pub const MAX_FILTERS: usize = 32;

    /// Reads a header.
    ///
    /// # Errors
    /// Truncated, a version or code that the format doesn't have, a pipeline that doesn't fill its bytes or lists more than
    /// [`MAX_FILTERS`](Self::MAX_FILTERS) filters, or an encrypted tile whose pipeline doesn't encrypt.
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
            let expected = "an encrypting filter, because the tile says that it is encrypted";
            return Err(DecodeError::invalid("filter pipeline", offset, pipeline, expected));
        }
        Ok(Self { version, persisted_size, tile_size, datatype, cell_size, encryption, pipeline_size, pipeline })
    }

    /// Writes what [`parse`](Self::parse) reads. [`pipeline_size`](Self::pipeline_size) is not looked at.
    ///
    /// # Errors
    /// The version can't express the pipeline. Then nothing is written.
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

    /// Bytes of the header.
    #[must_use]
    pub fn header_len(&self) -> u64 {
        Self::FIXED_LEN + u64::from(self.pipeline_size)
    }

    /// Bytes of header and filtered tile together: where the tile begins plus this is where what follows it begins.
    #[must_use]
    pub fn stored_len(&self) -> u64 {
        self.header_len().saturating_add(self.persisted_size)
    }
}

/// Whether these are the first bytes of a generic tile by a release before 1.4. Its header had no version: `u64` filtered
/// bytes, `u64` bytes of the payload, `u8` datatype, `u64` cell size, `u8` compressor (of 13), `i32` level. Whatever lies
/// there is all of its file.
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

//! The part of a footer before the lists: flags, counts and the non-empty domain.

use tdb_rtree::NdRange;
use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, ByteWriter, DecodeError, Feature, FormatVersion};

use crate::error::{FragmentError, Result};
use crate::field::FieldSlots;

/// The schema name of every fragment in formats that do not store the name.
pub use tdb_types::names::LEGACY_SCHEMA as LEGACY_SCHEMA_NAME;

/// The properties of a whole fragment, stored at the start of the footer.
///
/// ```text
/// u32 version | [u64 length | schema name] | u8 dense | u8 null domain | non-empty domain
/// u64 sparse tile count | u64 last tile's cells | [u8 has timestamps] | [u8 has delete metadata]
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FooterHeader {
    /// The fragment's format version.
    pub version: FormatVersion,
    /// The file name of the fragment's schema. `__array_schema.tdb` in versions that do not store
    /// the name.
    pub schema_name: String,
    /// `true` if the fragment has all cells of its tiles, in the order of the tile grid, and no
    /// coordinates.
    pub dense: bool,
    /// The smallest ranges that contain all cells. `None` only in a fragment without cells.
    pub non_empty_domain: Option<NdRange>,
    /// The number of tiles of a sparse fragment. 0 in dense fragments, where the domain determines
    /// the number.
    pub sparse_tile_count: u64,
    /// The number of cells in the last tile of a sparse fragment. All other tiles are filled to the
    /// schema's capacity. In a dense fragment, the number of cells per tile.
    pub last_tile_cells: u64,
    /// `true` if the fragment stores the time of the write of each cell.
    pub has_timestamps: bool,
    /// `true` if the fragment stores the deletion time and the delete condition of each cell.
    pub has_delete_metadata: bool,
}

impl FooterHeader {
    /// Creates the header of a fragment without cells. `schema_name` is the file name of the
    /// schema.
    ///
    /// The public fields set further properties.
    #[must_use]
    pub fn new(version: FormatVersion, schema_name: impl Into<String>, dense: bool) -> Self {
        Self {
            version,
            schema_name: schema_name.into(),
            dense,
            non_empty_domain: None,
            sparse_tile_count: 0,
            last_tile_cells: 0,
            has_timestamps: false,
            has_delete_metadata: false,
        }
    }

    /// Returns the fields of the fragment and their slots.
    #[must_use]
    pub fn slots(&self, schema: &ArraySchema) -> FieldSlots {
        FieldSlots::new(
            self.version,
            schema.attributes().len(),
            schema.domain().dimensions().len(),
            self.has_timestamps,
            self.has_delete_metadata,
        )
    }

    /// Parses the version and the schema's name. Both come first, because the schema is needed to
    /// parse the rest.
    pub(crate) fn parse_start(reader: &mut ByteReader<'_>) -> Result<(FormatVersion, String), DecodeError> {
        let offset = reader.offset();
        let version = FormatVersion::read(reader)?;
        if !version.has(Feature::FragmentFooter) {
            let expected = "a version whose fragments have footers (3 or later)";
            return Err(DecodeError::invalid("format version", offset, version, expected));
        }
        if !version.has(Feature::SchemaFolder) {
            return Ok((version, LEGACY_SCHEMA_NAME.to_owned()));
        }
        let offset = reader.offset();
        let name = reader.string_u64("schema name")?;
        if !tdb_types::is_safe_file_name(&name) {
            return Err(DecodeError::invalid("schema name", offset, format!("{name:?}"), "a valid schema file name"));
        }
        Ok((version, name))
    }

    pub(crate) fn parse(reader: &mut ByteReader<'_>, schema: &ArraySchema) -> Result<Self, DecodeError> {
        let (version, schema_name) = Self::parse_start(reader)?;
        Ok(Self {
            version,
            schema_name,
            dense: reader.bool("dense")?,
            non_empty_domain: parse_domain(reader, schema)?,
            sparse_tile_count: reader.u64("sparse tile count")?,
            last_tile_cells: reader.u64("last tile's cells")?,
            has_timestamps: version.has(Feature::CellTimestamps) && reader.bool("has timestamps")?,
            has_delete_metadata: version.has(Feature::DeleteMetadata) && reader.bool("has delete metadata")?,
        })
    }

    pub(crate) fn write(&self, writer: &mut ByteWriter, schema: &ArraySchema) -> Result<()> {
        writer.u32(self.version.number());
        if self.version.has(Feature::SchemaFolder) {
            writer.string_u64(&self.schema_name);
        }
        writer.bool(self.dense);
        write_domain(self.non_empty_domain.as_ref(), writer, schema)?;
        writer.u64(self.sparse_tile_count);
        writer.u64(self.last_tile_cells);
        if self.version.has(Feature::CellTimestamps) {
            writer.bool(self.has_timestamps);
        }
        if self.version.has(Feature::DeleteMetadata) {
            writer.bool(self.has_delete_metadata);
        }
        Ok(())
    }
}

/// Returns the size of a domain in bytes, or `None` if a dimension has variable size.
pub(crate) fn fixed_domain_len(schema: &ArraySchema) -> Option<u64> {
    let kinds = schema.domain().kinds();
    kinds.iter().map(|kind| (!kind.var).then_some(2 * kind.datatype.size() as u64)).sum()
}

/// Parses the flag for an absent domain, and the domain.
///
/// Without a domain, zeros fill the space of the domain. All dimensions must then have a fixed
/// size.
fn parse_domain(reader: &mut ByteReader<'_>, schema: &ArraySchema) -> Result<Option<NdRange>, DecodeError> {
    let offset = reader.offset();
    if !reader.bool("null non-empty domain")? {
        return NdRange::parse(reader, &schema.domain().kinds()).map(Some);
    }
    let Some(len) = fixed_domain_len(schema) else {
        let expected = "0, since a dimension of variable size requires a domain";
        return Err(DecodeError::invalid("null non-empty domain", offset, 1, expected));
    };
    let offset = reader.offset();
    let filler = reader.bytes("non-empty domain", len)?;
    if filler.iter().any(|byte| *byte != 0) {
        return Err(DecodeError::invalid("non-empty domain", offset, "a domain", "zeros in place of a null domain"));
    }
    Ok(None)
}

fn write_domain(domain: Option<&NdRange>, writer: &mut ByteWriter, schema: &ArraySchema) -> Result<()> {
    writer.bool(domain.is_none());
    match (domain, fixed_domain_len(schema)) {
        (Some(domain), _) => domain.write(writer, &schema.domain().kinds())?,
        (None, Some(len)) => (0..len).for_each(|_| writer.u8(0)),
        (None, None) => {
            return Err(FragmentError::inconsistent(
                "non-empty domain",
                "none",
                "a domain, since a dimension has variable size",
            ));
        }
    }
    Ok(())
}

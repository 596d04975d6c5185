//! Payloads of schema tiles: parsing and writing.

use tdb_filters::FilterPipeline;
use tdb_types::{ArrayType, ByteReader, ByteWriter, DecodeError, Feature, FormatVersion, Layout};

use crate::error::Result;
use crate::{ArraySchema, Attribute, DimensionLabel, Domain, EnumerationRef, current_domain, validate};

impl ArraySchema {
    /// Parses the payload of a schema's generic tile.
    ///
    /// # Errors
    /// Fails if the bytes are not a valid schema or use an unsupported feature.
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self> {
        let schema = crate::group(reader, "array schema", Self::parse_fields)?;
        validate::readable(&schema)?;
        Ok(schema)
    }

    fn parse_fields(reader: &mut ByteReader<'_>) -> Result<Self> {
        let version = FormatVersion::read(reader)?;
        let mut schema = Self {
            version,
            allows_duplicates: version.has(Feature::AllowsDuplicates) && reader.bool("allows duplicates")?,
            array_type: ArrayType::read(reader, "array type")?,
            tile_order: parse_order(reader, "tile order", &[Layout::RowMajor, Layout::ColMajor])?,
            cell_order: parse_order(reader, "cell order", &[Layout::RowMajor, Layout::ColMajor, Layout::Hilbert])?,
            capacity: reader.u64("capacity")?,
            coords_filters: parse_filters(reader, "coordinate filters", version)?,
            offsets_filters: parse_filters(reader, "offsets filters", version)?,
            validity_filters: match version.has(Feature::Validity) {
                true => parse_filters(reader, "validity filters", version)?,
                false => FilterPipeline::default(),
            },
            domain: reader.group(|| "domain".to_owned(), |reader| Domain::parse(reader, version))?,
            // The shortest attribute (version 1) has an empty name, a datatype, a number of values
            // and no filters.
            attributes: parse_list(reader, "attribute", 17, 0, |reader| Attribute::parse(reader, version))?,
            labels: match version.has(Feature::DimensionLabels) {
                true => parse_list(reader, "dimension label", 28, 4, DimensionLabel::parse)?,
                false => Vec::new(),
            },
            enumerations: match version.has(Feature::Enumerations) {
                true => parse_list(reader, "enumeration", 8, 0, EnumerationRef::parse)?,
                false => Vec::new(),
            },
            current_domain: None,
        };
        if version.has(Feature::CurrentDomain) {
            let kinds = schema.domain.kinds();
            let parse = |reader: &mut ByteReader<'_>| current_domain::parse(reader, &kinds);
            schema.current_domain = crate::group(reader, "current domain", parse)?;
        }
        Ok(schema)
    }

    /// Writes the payload of the schema's generic tile, in the version of the schema.
    ///
    /// # Errors
    /// Fails if the version cannot represent a filter, or if a fill value is too large. Parsing and
    /// building rule out both cases.
    pub fn write(&self, writer: &mut ByteWriter) -> Result<()> {
        let version = self.version;
        writer.u32(version.number());
        if version.has(Feature::AllowsDuplicates) {
            writer.bool(self.allows_duplicates);
        }
        self.array_type.write(writer);
        self.tile_order.write(writer);
        self.cell_order.write(writer);
        writer.u64(self.capacity);
        self.coords_filters.write(writer, version)?;
        self.offsets_filters.write(writer, version)?;
        if version.has(Feature::Validity) {
            self.validity_filters.write(writer, version)?;
        }
        self.domain.write(writer, version)?;
        write_count(writer, self.attributes.len());
        self.attributes.iter().try_for_each(|attribute| attribute.write(writer, version))?;
        if version.has(Feature::DimensionLabels) {
            write_count(writer, self.labels.len());
            self.labels.iter().for_each(|label| label.write(writer));
        }
        if version.has(Feature::Enumerations) {
            write_count(writer, self.enumerations.len());
            self.enumerations.iter().for_each(|enumeration| enumeration.write(writer));
        }
        if version.has(Feature::CurrentDomain) {
            current_domain::write(self.current_domain.as_ref(), writer, &self.domain.kinds())?;
        }
        Ok(())
    }
}

fn parse_order(reader: &mut ByteReader<'_>, field: &'static str, allowed: &[Layout]) -> tdb_types::Result<Layout> {
    let offset = reader.offset();
    let order = Layout::read(reader, field)?;
    if allowed.contains(&order) {
        return Ok(order);
    }
    let expected = "row-major (0) or col-major (1), for cells also Hilbert (4)";
    Err(DecodeError::invalid(field, offset, order, expected))
}

fn parse_filters(
    reader: &mut ByteReader<'_>,
    name: &'static str,
    version: FormatVersion,
) -> tdb_types::Result<FilterPipeline> {
    reader.group(|| name.to_owned(), |reader| FilterPipeline::parse(reader, version))
}

/// Parses a `u32` count and as many items of at least `shortest` bytes each. The name of an item
/// begins `skip` bytes into the item.
fn parse_list<T>(
    reader: &mut ByteReader<'_>,
    what: &'static str,
    shortest: u64,
    skip: u64,
    parse: impl Fn(&mut ByteReader<'_>) -> tdb_types::Result<T>,
) -> tdb_types::Result<Vec<T>> {
    let count = reader.u32("count")?;
    reader.explain(|| format!("{what}s"));
    let count = reader.count("count", u64::from(count), shortest)?;
    (0..count)
        .map(|index| {
            let name = crate::group_name(what, index, skip, reader);
            reader.group(name, &parse)
        })
        .collect()
}

fn write_count(writer: &mut ByteWriter, count: usize) {
    // The parser cannot return larger counts, and a builder would run out of memory first.
    writer.u32(u32::try_from(count).unwrap_or(u32::MAX));
}

//! Reader of sections in generic tiles.

use tdb_generic_tile::GenericTileDecoder;
use tdb_rtree::RTree;
use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, Feature, Spans};

use super::values::ValueShape;
use super::{
    FragmentStatistics, GlobalOrderBounds, ProcessedConditions, StatisticsRules, TileOffsets, TileStatistics,
    TileValues, TileVarSizes, per_tile,
};
use crate::error::{FragmentError, Result};
use crate::field::{FragmentField, Part};
use crate::footer::FragmentFooter;
use crate::section::SectionId;

/// A reader of a fragment's sections, which validates them against the footer and the schema.
///
/// Methods that read a section take the bytes of the section, starting at its
/// [`section_offset`](FragmentFooter::section_offset). Pass at least the bytes of
/// [`section_range`](FragmentFooter::section_range). These methods fail if the fragment does not
/// have the section, if the generic tile cannot be unfiltered, or if its payload contradicts the
/// footer or the schema.
#[derive(Debug)]
pub struct SectionReader<'a> {
    pub(crate) parser: SectionParser<'a>,
    pub(crate) decoder: &'a mut GenericTileDecoder,
    spans: Option<&'a Spans>,
}

impl<'a> SectionReader<'a> {
    /// Creates a reader for the fragment with this footer and schema.
    ///
    /// The decoder holds the limits, and the key of an encrypted array. A decoder can be shared by
    /// many fragments.
    #[must_use]
    pub fn new(footer: &'a FragmentFooter, schema: &'a ArraySchema, decoder: &'a mut GenericTileDecoder) -> Self {
        Self { parser: SectionParser { footer, schema }, decoder, spans: None }
    }

    /// Records the spans of all sections read.
    #[must_use]
    pub fn recording(self, spans: Option<&'a Spans>) -> Self {
        Self { spans, ..self }
    }

    /// Reads the R-tree of the MBRs of tiles. It has a leaf per tile in a sparse fragment, and no
    /// leaves in a dense fragment.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn rtree(&mut self, bytes: &[u8]) -> Result<RTree> {
        self.payload(SectionId::RTree, bytes, SectionParser::parse_rtree)
    }

    /// Reads the offsets of the tiles of one part of a field.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_offsets(&mut self, field: FragmentField, part: Part, bytes: &[u8]) -> Result<TileOffsets> {
        self.payload(SectionId::offsets_of(field, part), bytes, |parser, reader| {
            parser.parse_offsets(field, part, reader)
        })
    }

    /// Reads the unfiltered sizes of the tiles of a field's variable-size values.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_var_sizes(&mut self, field: FragmentField, bytes: &[u8]) -> Result<TileVarSizes> {
        self.payload(SectionId::TileVarSizes(field), bytes, SectionParser::parse_var_sizes)
    }

    /// Reads the minimum of each tile of a field.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_mins(&mut self, field: FragmentField, bytes: &[u8]) -> Result<TileValues> {
        self.payload(SectionId::TileMins(field), bytes, |parser, reader| parser.parse_values(field, reader))
    }

    /// Reads the maximum of each tile of a field.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_maxs(&mut self, field: FragmentField, bytes: &[u8]) -> Result<TileValues> {
        self.payload(SectionId::TileMaxs(field), bytes, |parser, reader| parser.parse_values(field, reader))
    }

    /// Reads the bits of the sum of each tile of a field. The list may be empty. See
    /// [`TileStatistics::sums`] for the meaning of the bits.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_sums(&mut self, field: FragmentField, bytes: &[u8]) -> Result<Vec<u64>> {
        self.payload(SectionId::TileSums(field), bytes, |parser, reader| parser.parse_per_tile("tile sums", reader))
    }

    /// Reads the null count of each tile of a field. The list may be empty.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_null_counts(&mut self, field: FragmentField, bytes: &[u8]) -> Result<Vec<u64>> {
        let id = SectionId::TileNullCounts(field);
        self.payload(id, bytes, |parser, reader| parser.parse_per_tile("tile null counts", reader))
    }

    /// Reads all statistics of a field's tiles.
    ///
    /// `sections` has the bytes of four sections: minimums, maximums, sums and null counts.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn tile_statistics(&mut self, field: FragmentField, sections: [&[u8]; 4]) -> Result<TileStatistics> {
        let [mins, maxs, sums, null_counts] = sections;
        Ok(TileStatistics {
            mins: self.tile_mins(field, mins)?,
            maxs: self.tile_maxs(field, maxs)?,
            sums: self.tile_sums(field, sums)?,
            null_counts: self.tile_null_counts(field, null_counts)?,
        })
    }

    /// Reads the statistics of the whole fragment, one entry per field.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn fragment_statistics(&mut self, bytes: &[u8]) -> Result<FragmentStatistics> {
        self.payload(SectionId::FragmentStatistics, bytes, |parser, reader| {
            Ok(FragmentStatistics::parse(reader, parser.footer.slots().len())?)
        })
    }

    /// Reads the delete and update conditions that are already applied to the fragment.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn processed_conditions(&mut self, bytes: &[u8]) -> Result<ProcessedConditions> {
        self.payload(SectionId::ProcessedConditions, bytes, |_, reader| Ok(ProcessedConditions::parse(reader)?))
    }

    /// Reads the coordinates, in one dimension, of each tile's first and last cell in global order.
    ///
    /// `mins` has the bytes of the section of first coordinates, `maxs` has the bytes of the
    /// section of last coordinates.
    ///
    /// # Errors
    /// See [`SectionReader`].
    pub fn global_order_bounds(&mut self, dimension: usize, mins: &[u8], maxs: &[u8]) -> Result<GlobalOrderBounds> {
        let mut coordinates =
            |id, bytes| self.payload(id, bytes, |parser, reader| parser.parse_coordinates(dimension, reader));
        Ok(GlobalOrderBounds {
            mins: coordinates(SectionId::GlobalOrderMins(dimension), mins)?,
            maxs: coordinates(SectionId::GlobalOrderMaxs(dimension), maxs)?,
        })
    }

    /// Unfilters the generic tile of a section, parses its payload, and checks that `parse`
    /// consumes all bytes.
    fn payload<T>(
        &mut self,
        id: SectionId,
        bytes: &[u8],
        parse: impl FnOnce(&SectionParser<'a>, &mut ByteReader<'_>) -> Result<T>,
    ) -> Result<T> {
        let SectionParser { footer, .. } = self.parser;
        let missing = FragmentError::NoSuchSection { section: id, version: footer.version() };
        let mut reader = ByteReader::at(bytes, footer.section_offset(id).ok_or(missing)?);
        if let Some(spans) = self.spans {
            reader = reader.recording(spans, 0);
        }
        parse_section(id, &mut reader, self.decoder, |payload| parse(&self.parser, payload))
    }
}

/// A parser of the unfiltered payloads of sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SectionParser<'a> {
    pub(crate) footer: &'a FragmentFooter,
    pub(crate) schema: &'a ArraySchema,
}

impl SectionParser<'_> {
    pub(crate) fn parse_rtree(&self, reader: &mut ByteReader<'_>) -> Result<RTree> {
        let tree = RTree::parse(reader, &self.schema.domain().kinds(), self.footer.version())?;
        let expected = if self.footer.is_dense() { 0 } else { self.footer.tile_count() };
        if tree.leaf_count() != expected {
            let expected = format!("{expected}, as in the footer");
            return Err(FragmentError::inconsistent("leaves of the R-tree", tree.leaf_count(), expected));
        }
        Ok(tree)
    }

    pub(crate) fn parse_offsets(
        &self,
        field: FragmentField,
        part: Part,
        reader: &mut ByteReader<'_>,
    ) -> Result<TileOffsets> {
        let file_size = self.footer.file_size(field, part).ok_or(FragmentError::NoSuchField { field })?;
        Ok(TileOffsets::parse(reader, self.footer.tile_count(), file_size, self.has_surplus())?)
    }

    pub(crate) fn parse_var_sizes(&self, reader: &mut ByteReader<'_>) -> Result<TileVarSizes> {
        Ok(TileVarSizes::parse(reader, self.footer.tile_count(), self.has_surplus())?)
    }

    pub(crate) fn parse_values(&self, field: FragmentField, reader: &mut ByteReader<'_>) -> Result<TileValues> {
        let rules = StatisticsRules::new(self.footer, self.schema, field);
        let shape = rules.ok_or(FragmentError::NoSuchField { field })?.value_shape();
        Ok(TileValues::parse(reader, self.footer.tile_count(), shape)?)
    }

    pub(crate) fn parse_coordinates(&self, dimension: usize, reader: &mut ByteReader<'_>) -> Result<TileValues> {
        let field = FragmentField::Dimension(dimension);
        let dimension = self.schema.domain().dimensions().get(dimension).ok_or(FragmentError::NoSuchField { field })?;
        let size = dimension.datatype().size() as u64;
        let shape = if dimension.is_var() { ValueShape::Var } else { ValueShape::Fixed(size) };
        Ok(TileValues::parse(reader, self.footer.tile_count(), shape)?)
    }

    /// Returns `true` if lists may have more entries than the fragment has tiles.
    fn has_surplus(&self) -> bool {
        let is_nullable = || self.schema.attributes().iter().any(tdb_schema::Attribute::is_nullable);
        self.footer.version().has(Feature::SurplusTileEntries) && is_nullable()
    }

    pub(crate) fn parse_per_tile(&self, name: &'static str, reader: &mut ByteReader<'_>) -> Result<Vec<u64>> {
        Ok(per_tile(reader, name, self.footer.tile_count(), self.has_surplus())?)
    }
}

/// Unfilters the generic tile at `reader`, parses its payload as section `id`, and checks that
/// `parse` consumes all bytes.
pub(crate) fn parse_section<T>(
    id: SectionId,
    reader: &mut ByteReader<'_>,
    decoder: &mut GenericTileDecoder,
    parse: impl FnOnce(&mut ByteReader<'_>) -> Result<T>,
) -> Result<T> {
    let wrap = |source| FragmentError::Section { section: id, source: Box::new(source) };
    let spans = reader.spans();
    let tile = decoder.decode(reader).map_err(wrap)?;
    let mut payload = tile.payload_reader(spans);
    let inside = |error: FragmentError| match error {
        FragmentError::Decode(error) => FragmentError::Decode(error.inside(id.to_string())),
        other => other,
    };
    let value = parse(&mut payload).map_err(inside)?;
    payload.finish("payload").map_err(|error| error.inside(id.to_string()))?;
    Ok(value)
}

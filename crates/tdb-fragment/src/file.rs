//! Parsing and writing of a whole `__fragment_metadata.tdb`.

use std::ops::Range;

use tdb_generic_tile::{GenericTileDecoder, GenericTileEncoder};
use tdb_rtree::RTree;
use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, ByteWriter, Feature, FormatVersion, Spans};

use crate::contents::FragmentContents;
use crate::error::{FragmentError, Result};
use crate::footer::{FragmentFooter, OptionalSection};
use crate::header::FooterHeader;
use crate::legacy;
use crate::locate::{Step, has_length, locate};
use crate::section::SectionId;
use crate::sections::{SectionParser, parse_section};

/// The name of the metadata file in the fragment's folder.
pub use tdb_types::names::FRAGMENT_METADATA as FRAGMENT_METADATA_FILE;

/// The metadata of a fragment, complete.
///
/// Array readers rarely need all sections. They parse the [`FragmentFooter`], and single sections
/// with a [`SectionReader`](crate::SectionReader). Use this type for inspection, or to write a
/// file.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentFile {
    /// The footer, with the offsets of the sections in the file.
    pub footer: FragmentFooter,
    /// The contents of the sections.
    pub contents: FragmentContents,
}

/// Properties of a fragment known from its folder, but not from its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentFolder {
    /// The format version in the fragment's name.
    pub version: FormatVersion,
    /// `true` if the folder has a file `__coords.tdb`. Without this file, fragments of formats 1
    /// and 2 are dense. Later formats store a flag.
    pub has_coordinates: bool,
}

impl FragmentFile {
    /// Parses the whole file: the footer and all sections.
    ///
    /// # Errors
    /// Fails if the footer or a section cannot be read, or contradicts the schema.
    pub fn parse(
        bytes: &[u8],
        folder: FragmentFolder,
        schema: &ArraySchema,
        decoder: &mut GenericTileDecoder,
        spans: Option<&Spans>,
    ) -> Result<Self> {
        match locate(folder.version, Some(schema), bytes.len() as u64, bytes)? {
            Step::Footer(range) => Self::parse_with_footer(bytes, range, schema, decoder, spans),
            Step::Legacy | Step::Need(_) => {
                let (footer, contents) = legacy::parse_file(bytes, !folder.has_coordinates, schema, decoder, spans)?;
                Ok(Self { footer, contents })
            }
        }
    }

    /// Writes the whole file. The footer gets the offsets of the sections as written.
    ///
    /// The encoder determines the library version in the headers of sections, compression and
    /// encryption.
    ///
    /// # Errors
    /// Fails if the contents contradict the header or the schema, or if the encoder fails.
    pub fn write(
        header: &FooterHeader,
        contents: &FragmentContents,
        schema: &ArraySchema,
        encoder: &mut GenericTileEncoder,
    ) -> Result<Vec<u8>> {
        let version = header.version;
        let slots = header.slots(schema);
        let dimensions = schema.domain().dimensions().len();
        let mut lists = contents.lists(header, &slots)?;
        // Also checks the header before compressing any section.
        let footer = FragmentFooter::new(header.clone(), lists.clone(), Vec::new(), schema)?;
        contents.check(header, &slots, footer.tile_count(), dimensions)?;
        if version.has(Feature::LegacyFragmentMetadata) {
            return legacy::write_file(&footer, contents, schema, encoder);
        }
        let mut writer = ByteWriter::new();
        let (mut mins, mut maxs) = (Vec::new(), Vec::new());
        for id in SectionId::in_file_order(version, slots, dimensions, header.dense) {
            let offset = writer.len() as u64;
            match id {
                SectionId::GlobalOrderMins(_) => mins.push(offset),
                SectionId::GlobalOrderMaxs(_) => maxs.push(offset),
                _ => {
                    let place = id.place(&slots).and_then(|(list, index)| lists.get_mut(list).get_mut(index));
                    // Format 15 has a section of processed conditions but does not store its
                    // offset.
                    place.into_iter().for_each(|place| *place = offset);
                }
            }
            let mut payload = ByteWriter::new();
            contents.write_section(id, header, &slots, &mut payload);
            encoder
                .encode(payload.as_slice(), &mut writer)
                .map_err(|source| FragmentError::Section { section: id, source: Box::new(source) })?;
        }
        let mut optional = Vec::new();
        if !contents.global_order_bounds.is_empty() {
            optional.push(OptionalSection::GlobalOrderBounds { mins, maxs });
        }
        optional.extend(contents.unknown_sections.iter().cloned());
        let start = writer.len();
        FragmentFooter::new(header.clone(), lists, optional, schema)?.write(&mut writer, schema)?;
        if has_length(version, Some(schema))? {
            writer.u64((writer.len() - start) as u64);
        }
        Ok(writer.into_bytes())
    }

    fn parse_with_footer(
        bytes: &[u8],
        range: Range<u64>,
        schema: &ArraySchema,
        decoder: &mut GenericTileDecoder,
        spans: Option<&Spans>,
    ) -> Result<Self> {
        let part = |range: Range<u64>, record: bool| {
            let slice = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
            let slice = slice.and_then(|(start, end)| bytes.get(start..end)).unwrap_or_default();
            let reader = ByteReader::at(slice, range.start);
            match spans.filter(|_| record) {
                Some(spans) => reader.recording(spans, 0),
                None => reader,
            }
        };
        let footer = FragmentFooter::parse(part(range.clone(), false), schema)?;
        let sections = SectionParser { footer: &footer, schema };
        let slots = *footer.slots();
        let header = footer.header();
        let dimensions = schema.domain().dimensions().len();
        let mut contents = FragmentContents::new(RTree::empty(&schema.domain().kinds(), RTree::FANOUT), slots.len());
        let mut end = 0;
        for id in SectionId::in_file_order(header.version, slots, dimensions, header.dense) {
            let start = match footer.section_offset(id) {
                Some(start) => start,
                // The footer has no offset of this section. If present, the section fills the gap
                // after the previous section.
                None if end < range.start && !footer.is_section_start(end) => end,
                None => continue,
            };
            let mut reader = part(start..range.start, true);
            let token = spans.map(|spans| spans.begin(0, start, id.to_string()));
            parse_section(id, &mut reader, decoder, |payload| contents.parse_section(id, &sections, payload))?;
            end = reader.offset();
            if let (Some(spans), Some(token)) = (spans, token) {
                spans.end(token, end);
            }
        }
        if !footer.has_global_order_bounds() {
            // The sections are present but empty.
            contents.global_order_bounds.clear();
        }
        let unknown = |section: &&OptionalSection| matches!(section, OptionalSection::Unknown { .. });
        contents.unknown_sections = footer.optional_sections().iter().filter(unknown).cloned().collect();
        if spans.is_some() {
            // Parses the footer again, to record the spans of the footer after the spans of the
            // sections.
            FragmentFooter::parse(part(range.clone(), true), schema)?;
            let mut rest = part(range.end..bytes.len() as u64, true);
            if rest.remaining() > 0 {
                rest.u64("footer length")?;
            }
        }
        Ok(Self { footer, contents })
    }
}

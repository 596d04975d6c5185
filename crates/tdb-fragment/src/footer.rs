//! The footer: the part of fragment metadata that readers load first.

mod optional;

use std::ops::Range;

use tdb_schema::ArraySchema;
use tdb_types::{ByteReader, ByteWriter, DecodeError, Feature, FormatVersion};

pub use optional::OptionalSection;

use crate::error::{FragmentError, Result};
use crate::field::{FieldSlots, FragmentField, Part};
use crate::header::FooterHeader;
use crate::layout::{List, Lists};
use crate::section::SectionId;
use crate::tiles::Tiles;

/// The footer of a fragment's metadata, validated against its schema.
///
/// Fragments of formats 1 and 2 have no footer. [`FragmentFile`](crate::FragmentFile) builds a
/// footer from their metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentFooter {
    header: FooterHeader,
    slots: FieldSlots,
    lists: Lists,
    stray: Option<u64>,
    optional_sections: Vec<OptionalSection>,
    tiles: Tiles,
    /// The offsets of all sections, ascending.
    section_starts: Vec<u64>,
}

impl FragmentFooter {
    /// Creates a footer from its parts.
    ///
    /// # Errors
    /// Fails if the values contradict each other or the schema. Examples are a dense fragment of a
    /// sparse array, more cells in the last tile than the capacity, and lists of another version.
    pub fn new(
        header: FooterHeader,
        lists: Lists,
        optional_sections: Vec<OptionalSection>,
        schema: &ArraySchema,
    ) -> Result<Self> {
        let slots = header.slots(schema);
        if header.version.has(Feature::CombinedCoordinates) && schema.domain().has_var_dimension() {
            let expected = "dimensions of fixed size, since coordinates are combined";
            return Err(FragmentError::inconsistent("schema", "a dimension of variable size", expected));
        }
        if !lists.fit(header.version, &slots) {
            return Err(FragmentError::inconsistent("footer lists", "lists of another shape", "one entry per field"));
        }
        let tiles = Tiles::new(&header, schema)?;
        let section_starts = section_starts(&lists, &optional_sections);
        Ok(Self { header, slots, lists, stray: None, optional_sections, tiles, section_starts })
    }

    /// Parses the version and the name of the schema. The schema is needed to parse the rest of the
    /// footer.
    ///
    /// Footers from format 10 on store the name. Earlier formats always use
    /// [`LEGACY_SCHEMA_NAME`](crate::LEGACY_SCHEMA_NAME).
    ///
    /// # Errors
    /// Fails if the bytes are truncated, the version has no footers, or the name is invalid.
    pub fn schema_name(footer: &[u8]) -> Result<(FormatVersion, String)> {
        Ok(FooterHeader::parse_start(&mut ByteReader::new(footer))?)
    }

    /// Compares the version in a footer with the version in the name of the fragment's folder.
    ///
    /// `footer` is a reader at the start of a footer.
    /// [`TimestampedName::fragment_version`](tdb_types::TimestampedName::fragment_version) returns
    /// `named`. Without this check, damaged bytes could be reported as a footer of a newer format.
    /// Returns the version in the footer.
    ///
    /// # Errors
    /// Fails if the bytes are truncated or the versions differ.
    pub fn check_version(mut footer: ByteReader<'_>, named: FormatVersion) -> Result<FormatVersion> {
        let offset = footer.offset();
        let found = footer.u32("format version")?;
        let known = FormatVersion::new(found).ok();
        known.filter(|version| stands_for(named, *version)).ok_or_else(|| {
            let error = DecodeError::invalid("format version", offset, found, "the version in the fragment's name");
            error.inside(format!("metadata of a fragment of format {}", versions_of(named))).into()
        })
    }

    /// Parses a footer, which must fill the whole reader.
    ///
    /// Use the bytes found by [`locate`](crate::locate), or a footer from consolidated metadata.
    /// `schema` is the schema named by [`schema_name`](Self::schema_name).
    ///
    /// # Errors
    /// Fails if the bytes are not a footer or contradict the schema.
    pub fn parse(mut reader: ByteReader<'_>, schema: &ArraySchema) -> Result<Self> {
        let (header, lists, stray, optional_sections) = reader.group(
            || "footer".to_owned(),
            |reader| {
                let header = FooterHeader::parse(reader, schema)?;
                let version = header.version;
                let slots = header.slots(schema);
                let lists = Lists::parse(reader, version, &slots, |field| field.display(schema))?;
                let stray = has_stray(version) && reader.remaining() == 8;
                let stray = stray.then(|| reader.u64("stray offset")).transpose()?;
                let sections = if version.has(Feature::FooterSections) {
                    OptionalSection::parse_all(reader, schema.domain().dimensions().len())?
                } else {
                    Vec::new()
                };
                Ok((header, lists, stray, sections))
            },
        )?;
        reader.finish("footer")?;
        Ok(Self { stray, ..Self::new(header, lists, optional_sections, schema)? })
    }

    /// Writes the footer, without the length that follows in the file.
    ///
    /// # Errors
    /// Fails if the non-empty domain does not match the dimensions, or if it is absent but a
    /// dimension has variable size.
    pub fn write(&self, writer: &mut ByteWriter, schema: &ArraySchema) -> Result<()> {
        self.header.write(writer, schema)?;
        self.lists.write(writer);
        if let Some(stray) = self.stray {
            writer.u64(stray);
        }
        if self.header.version.has(Feature::FooterSections) {
            OptionalSection::write_all(&self.optional_sections, writer);
        }
        Ok(())
    }

    /// Returns the properties of the whole fragment.
    #[must_use]
    pub fn header(&self) -> &FooterHeader {
        &self.header
    }

    /// Returns the fragment's format version.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.header.version
    }

    /// Returns `true` if the fragment is dense.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.header.dense
    }

    /// Returns the fields and their slots in the lists.
    #[must_use]
    pub fn slots(&self) -> &FieldSlots {
        &self.slots
    }

    /// Returns the slot of `field`, or `None` if the fragment does not have the field.
    #[must_use]
    pub fn slot(&self, field: FragmentField) -> Option<usize> {
        self.slots.slot(field)
    }

    /// Returns the lists of the footer.
    #[must_use]
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Returns the meaningless 8 bytes that newer releases append to the lists of format 11, or
    /// `None` if they are absent.
    #[must_use]
    pub fn stray(&self) -> Option<u64> {
        self.stray
    }

    /// Returns the optional sections (format 23).
    #[must_use]
    pub fn optional_sections(&self) -> &[OptionalSection] {
        &self.optional_sections
    }

    /// Returns the division of the cells into tiles.
    #[must_use]
    pub fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    /// Returns the number of tiles.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.tiles.count()
    }

    /// Returns the number of cells in a tile, or `None` if the tile does not exist.
    #[must_use]
    pub fn cells_in_tile(&self, tile: u64) -> Option<u64> {
        self.tiles.cells_in(tile)
    }

    /// Returns the size of the data file of a part in bytes, or 0 if the field has no such file.
    /// Returns `None` if the fragment does not have the field.
    #[must_use]
    pub fn file_size(&self, field: FragmentField, part: Part) -> Option<u64> {
        let list = match part {
            Part::Fixed => List::FileSizes,
            Part::Var => List::FileVarSizes,
            Part::Validity => List::FileValiditySizes,
        };
        let slot = self.slot(field)?;
        // Versions without validity have no validity files. With combined coordinates, `__coords`
        // has no file of variable-size data.
        Some(self.lists.get(list).get(slot).copied().unwrap_or(0))
    }

    /// Returns the offset of a section in the file.
    ///
    /// Returns `None` if the fragment does not have the section or if the footer does not store its
    /// offset.
    #[must_use]
    pub fn section_offset(&self, id: SectionId) -> Option<u64> {
        match id {
            SectionId::GlobalOrderMins(dimension) => self.global_order_offsets()?.0.get(dimension).copied(),
            SectionId::GlobalOrderMaxs(dimension) => self.global_order_offsets()?.1.get(dimension).copied(),
            _ => {
                let (list, index) = id.place(&self.slots)?;
                self.lists.get(list).get(index).copied()
            }
        }
    }

    /// Returns `true` if the fragment stores the first and last coordinates of each tile in global
    /// order.
    #[must_use]
    pub fn has_global_order_bounds(&self) -> bool {
        self.global_order_offsets().is_some()
    }

    /// Returns the byte range to read for a section.
    ///
    /// The range extends to the next section, or to `end`. Pass the start of the footer as `end` if
    /// known, else the size of the file. The section is a generic tile, whose header has the exact
    /// size.
    ///
    /// # Errors
    /// Fails with [`NoSuchSection`](FragmentError::NoSuchSection) if the section does not exist.
    /// Also fails if the offset of the section is not below `end`, or if another section has the
    /// same offset.
    pub fn section_range(&self, id: SectionId, end: u64) -> Result<Range<u64>> {
        let missing = FragmentError::NoSuchSection { section: id, version: self.version() };
        let start = self.section_offset(id).ok_or(missing)?;
        if start >= end {
            let error = DecodeError::invalid("section offset", start, start, "an offset before the footer");
            return Err(error.inside(id.to_string()).into());
        }
        let first = self.section_starts.partition_point(|other| *other < start);
        let next = self.section_starts.partition_point(|other| *other <= start);
        if next - first > 1 {
            // Rejects shared offsets, because a few bytes that decompress to many would be kept
            // once per section.
            let error = DecodeError::invalid("section offset", start, start, "an offset unique to this section");
            return Err(error.inside(id.to_string()).into());
        }
        let next = self.section_starts.get(next).copied().unwrap_or(end);
        Ok(start..next.min(end))
    }

    /// Returns `true` if a section begins at `offset`, according to the footer.
    pub(crate) fn is_section_start(&self, offset: u64) -> bool {
        self.section_starts.binary_search(&offset).is_ok()
    }

    /// Returns the approximate memory use of the footer in bytes.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        size_of::<Self>() + 8 * (self.lists.value_count() + self.section_starts.capacity())
    }

    fn global_order_offsets(&self) -> Option<(&[u64], &[u64])> {
        // If a writer repeats the section, the last copy counts, like in the reference library.
        self.optional_sections.iter().rev().find_map(|section| match section {
            OptionalSection::GlobalOrderBounds { mins, maxs } => Some((mins.as_slice(), maxs.as_slice())),
            OptionalSection::Unknown { .. } => None,
        })
    }
}

/// Returns `true` if a fragment with the version `named` in its name may have the format `version`.
/// Old names denote two versions each.
fn stands_for(named: FormatVersion, version: FormatVersion) -> bool {
    let generation = |version: FormatVersion| {
        [Feature::LegacyFragmentMetadata, Feature::CombinedCoordinates].map(|feature| version.has(feature))
    };
    named == version || (named.has(Feature::CombinedCoordinates) && generation(named) == generation(version))
}

fn versions_of(named: FormatVersion) -> String {
    let versions = FormatVersion::all().filter(|version| stands_for(named, *version));
    versions.map(|version| version.to_string()).collect::<Vec<_>>().join(" or ")
}

/// Returns `true` if the lists may be followed by a stray offset.
///
/// Format 11 has tile statistics but no fragment statistics. Newer releases that write format 11
/// still store an offset of the fragment statistics, although the section does not exist.
fn has_stray(version: FormatVersion) -> bool {
    version.has(Feature::TileStatistics) && !version.has(Feature::FragmentStatistics)
}

fn section_starts(lists: &Lists, optional_sections: &[OptionalSection]) -> Vec<u64> {
    let mut starts: Vec<u64> =
        List::all().filter(|list| *list >= List::RTree).flat_map(|list| lists.get(list)).copied().collect();
    for section in optional_sections {
        if let OptionalSection::GlobalOrderBounds { mins, maxs } = section {
            starts.extend(mins.iter().chain(maxs));
        }
    }
    // Files are written front to back. The offsets are therefore usually sorted already.
    starts.sort_unstable();
    starts
}

#[cfg(test)]
mod tests;

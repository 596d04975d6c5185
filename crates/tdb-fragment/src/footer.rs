//! The footer: what a reader knows of a fragment before it loads any section.

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

/// The footer of a fragment's metadata, checked against its schema.
///
/// For fragments of formats 1 and 2, which have no footer, [`FragmentFile`](crate::FragmentFile) makes one of what
/// their metadata says.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentFooter {
    header: FooterHeader,
    slots: FieldSlots,
    lists: Lists,
    stray: Option<u64>,
    optional_sections: Vec<OptionalSection>,
    tiles: Tiles,
    /// Where any section begins, ascending.
    section_starts: Vec<u64>,
}

impl FragmentFooter {
    /// A footer of these values.
    ///
    /// # Errors
    /// The values contradict each other or the schema: a dense fragment of a sparse array or outside the domain, more
    /// cells in the last tile than the capacity, lists of another version, ….
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
            return Err(FragmentError::inconsistent(
                "footer lists",
                "those of another fragment",
                "one entry per field",
            ));
        }
        let tiles = Tiles::new(&header, schema)?;
        let section_starts = section_starts(&lists, &optional_sections);
        Ok(Self { header, slots, lists, stray: None, optional_sections, tiles, section_starts })
    }

    /// Reads the version and the name of the schema, which has to be known before the rest can be read. From format 10
    /// on footers give the name; before, it is [`LEGACY_SCHEMA_NAME`](crate::LEGACY_SCHEMA_NAME).
    ///
    /// # Errors
    /// Truncated, a version without footers, or an invalid name.
    pub fn schema_name(footer: &[u8]) -> Result<(FormatVersion, String)> {
        Ok(FooterHeader::parse_start(&mut ByteReader::new(footer))?)
    }

    /// Compares the version that a footer states with the one that the name of the fragment's folder stands for (see
    /// [`TimestampedName::fragment_version`](tdb_types::TimestampedName::fragment_version)), so that bytes which are no
    /// footer at all are not taken for one of a newer format.
    ///
    /// `footer` are the bytes of a footer, or a reader at its start.
    ///
    /// # Errors
    /// Truncated, or another version.
    pub fn check_version(mut footer: ByteReader<'_>, named: FormatVersion) -> Result<FormatVersion> {
        let offset = footer.offset();
        let found = footer.u32("format version")?;
        let known = FormatVersion::new(found).ok();
        known.filter(|version| stands_for(named, *version)).ok_or_else(|| {
            let error = DecodeError::invalid("format version", offset, found, "the one that the fragment's name says");
            error.inside(format!("metadata of a fragment of format {}", versions_of(named))).into()
        })
    }

    /// Reads a footer, which is all that the reader has: the bytes that [`locate`](crate::locate) gave, or those of one
    /// footer in consolidated metadata.
    ///
    /// `schema` is the one that [`schema_name`](Self::schema_name) names.
    ///
    /// # Errors
    /// The bytes are no footer, or contradict the schema.
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

    /// Writes the footer, without the length that follows it in the file.
    ///
    /// # Errors
    /// A null non-empty domain that can't be expressed.
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

    /// What the footer says of the fragment as a whole.
    #[must_use]
    pub fn header(&self) -> &FooterHeader {
        &self.header
    }

    /// The fragment's format version.
    #[must_use]
    pub fn version(&self) -> FormatVersion {
        self.header.version
    }

    /// Whether the fragment is dense.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.header.dense
    }

    /// The fields and their order in the lists.
    #[must_use]
    pub fn slots(&self) -> &FieldSlots {
        &self.slots
    }

    /// The place of `field` in the lists, if the fragment has it.
    #[must_use]
    pub fn slot(&self, field: FragmentField) -> Option<usize> {
        self.slots.slot(field)
    }

    /// The lists, as they stand in the footer.
    #[must_use]
    pub fn lists(&self) -> &Lists {
        &self.lists
    }

    /// The 8 bytes that newer releases append to the lists of format 11, which mean nothing.
    #[must_use]
    pub fn stray(&self) -> Option<u64> {
        self.stray
    }

    /// The optional sections (format 23).
    #[must_use]
    pub fn optional_sections(&self) -> &[OptionalSection] {
        &self.optional_sections
    }

    /// How the cells are divided into tiles.
    #[must_use]
    pub fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    /// How many tiles there are.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        self.tiles.count()
    }

    /// How many cells a tile has; `None` if there is no such tile.
    #[must_use]
    pub fn cells_in_tile(&self, tile: u64) -> Option<u64> {
        self.tiles.cells_in(tile)
    }

    /// Bytes of the data file with one part of a field; `None` if the fragment doesn't have the field.
    #[must_use]
    pub fn file_size(&self, field: FragmentField, part: Part) -> Option<u64> {
        let list = match part {
            Part::Fixed => List::FileSizes,
            Part::Var => List::FileVarSizes,
            Part::Validity => List::FileValiditySizes,
        };
        let slot = self.slot(field)?;
        // Versions without validity, and `__coords` while lists of variable-size data leave it out, have no such file.
        Some(self.lists.get(list).get(slot).copied().unwrap_or(0))
    }

    /// Where a section begins in the file; `None` if the fragment has no such section, or the footer doesn't say where.
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

    /// Whether the fragment says of each tile which cells are its first and last in global order.
    #[must_use]
    pub fn has_global_order_bounds(&self) -> bool {
        self.global_order_offsets().is_some()
    }

    /// The bytes of the file to read for a section: from its offset to the next section's, or to `end`, which is where
    /// the footer begins if that is known, else the size of the file.
    ///
    /// The section itself, a generic tile, says how much of this it takes.
    ///
    /// # Errors
    /// [`NoSuchSection`](FragmentError::NoSuchSection), an offset beyond `end`, or one that other sections have too.
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
            // Few bytes that unfilter to many would be held for each of them.
            let error = DecodeError::invalid("section offset", start, start, "one that no other section has");
            return Err(error.inside(id.to_string()).into());
        }
        let next = self.section_starts.get(next).copied().unwrap_or(end);
        Ok(start..next.min(end))
    }

    /// Whether the footer says that some section begins at `offset`.
    pub(crate) fn is_section_start(&self, offset: u64) -> bool {
        self.section_starts.binary_search(&offset).is_ok()
    }

    /// Bytes of memory that the footer takes, roughly.
    #[must_use]
    pub fn memory_used(&self) -> usize {
        size_of::<Self>() + 8 * (self.lists.value_count() + self.section_starts.capacity())
    }

    fn global_order_offsets(&self) -> Option<(&[u64], &[u64])> {
        // Should a writer repeat the section, the last one counts, as it does for the reference library.
        self.optional_sections.iter().rev().find_map(|section| match section {
            OptionalSection::GlobalOrderBounds { mins, maxs } => Some((mins.as_slice(), maxs.as_slice())),
            OptionalSection::Unknown { .. } => None,
        })
    }
}

/// Whether a fragment whose name stands for `named` may be of `version`: old names stand for two versions each.
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

/// Format 11 has statistics of tiles, but none of the fragment yet; newer releases that write it say where those are all
/// the same, although they aren't there.
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
    // Files are written front to back, so this is a pass over sorted numbers.
    starts.sort_unstable();
    starts
}

#[cfg(test)]
mod tests;

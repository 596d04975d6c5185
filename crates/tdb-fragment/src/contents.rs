//! The sections of fragment metadata as plain values.

use tdb_rtree::RTree;
use tdb_types::{ByteReader, ByteWriter, Feature};

use crate::error::{FragmentError, Result};
use crate::field::{FieldSlots, FragmentField, Part};
use crate::footer::OptionalSection;
use crate::header::FooterHeader;
use crate::layout::{List, Lists};
use crate::section::SectionId;
use crate::sections::{
    FragmentStatistics, GlobalOrderBounds, ProcessedConditions, SectionParser, TileOffsets, TileStatistics, TileValues,
    TileVarSizes, write_counted,
};

/// The contents of all sections of a fragment's metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct FragmentContents {
    /// The R-tree of the MBRs of tiles. It has no leaves in a dense fragment.
    pub rtree: RTree,
    /// The fields, in the order of [`FieldSlots`].
    pub fields: Vec<FieldContents>,
    /// The first and last coordinates of tiles, per dimension. Empty if the fragment has no global
    /// order bounds.
    pub global_order_bounds: Vec<GlobalOrderBounds>,
    /// The statistics of the whole fragment, one entry per field.
    pub fragment_statistics: FragmentStatistics,
    /// The delete and update conditions that are already applied.
    pub processed_conditions: ProcessedConditions,
    /// Unknown optional sections of the footer.
    pub unknown_sections: Vec<OptionalSection>,
    /// First and last coordinates of the tiles in formats 1 and 2. No reader uses them.
    pub bounding_coordinates: Vec<u8>,
}

/// The contents of the sections of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldContents {
    /// The offsets of the tiles of cells or offsets, and the size of their file.
    pub tile_offsets: TileOffsets,
    /// The offsets of the tiles of variable-size values, and the size of their file.
    pub tile_var_offsets: TileOffsets,
    /// The unfiltered sizes of the tiles of variable-size values, in bytes.
    pub tile_var_sizes: TileVarSizes,
    /// The offsets of the validity tiles, and the size of their file.
    pub tile_validity_offsets: TileOffsets,
    /// The statistics of the tiles.
    pub statistics: TileStatistics,
}

impl FieldContents {
    /// Returns the offsets of the tiles of a part.
    #[must_use]
    pub fn offsets(&self, part: Part) -> &TileOffsets {
        match part {
            Part::Fixed => &self.tile_offsets,
            Part::Var => &self.tile_var_offsets,
            Part::Validity => &self.tile_validity_offsets,
        }
    }

    pub(crate) fn offsets_mut(&mut self, part: Part) -> &mut TileOffsets {
        match part {
            Part::Fixed => &mut self.tile_offsets,
            Part::Var => &mut self.tile_var_offsets,
            Part::Validity => &mut self.tile_validity_offsets,
        }
    }
}

impl FragmentContents {
    /// Creates contents with this R-tree and `fields` empty fields.
    #[must_use]
    pub fn new(rtree: RTree, fields: usize) -> Self {
        Self {
            rtree,
            fields: vec![FieldContents::default(); fields],
            global_order_bounds: Vec::new(),
            fragment_statistics: FragmentStatistics::default(),
            processed_conditions: ProcessedConditions::default(),
            unknown_sections: Vec::new(),
            bounding_coordinates: Vec::new(),
        }
    }

    /// Returns the lists of the footer, with the sizes of the data files. The offsets of sections
    /// are zeros.
    pub(crate) fn lists(&self, header: &FooterHeader, slots: &FieldSlots) -> Result<Lists> {
        let mut lists = Lists::zeroed(header.version, slots);
        if self.fields.len() != slots.len() {
            return Err(FragmentError::inconsistent("fields", self.fields.len(), slots.len()));
        }
        for (list, part) in
            [(List::FileSizes, Part::Fixed), (List::FileVarSizes, Part::Var), (List::FileValiditySizes, Part::Validity)]
        {
            for (size, field) in lists.get_mut(list).iter_mut().zip(&self.fields) {
                *size = field.offsets(part).file_size();
            }
        }
        Ok(lists)
    }

    /// Parses the payload of a section and stores the result.
    pub(crate) fn parse_section(
        &mut self,
        id: SectionId,
        sections: &SectionParser<'_>,
        reader: &mut ByteReader<'_>,
    ) -> Result<()> {
        match id {
            SectionId::RTree => self.rtree = sections.parse_rtree(reader)?,
            SectionId::FragmentStatistics => {
                self.fragment_statistics = FragmentStatistics::parse(reader, sections.footer.slots().len())?;
            }
            SectionId::ProcessedConditions => self.processed_conditions = ProcessedConditions::parse(reader)?,
            SectionId::GlobalOrderMins(dimension) => {
                self.bounds_mut(dimension).mins = sections.parse_coordinates(dimension, reader)?;
            }
            SectionId::GlobalOrderMaxs(dimension) => {
                self.bounds_mut(dimension).maxs = sections.parse_coordinates(dimension, reader)?;
            }
            SectionId::TileOffsets(field) => self.parse_offsets(field, Part::Fixed, sections, reader)?,
            SectionId::TileVarOffsets(field) => self.parse_offsets(field, Part::Var, sections, reader)?,
            SectionId::TileValidityOffsets(field) => self.parse_offsets(field, Part::Validity, sections, reader)?,
            SectionId::TileVarSizes(field) => {
                self.field_mut(field, sections)?.tile_var_sizes = sections.parse_var_sizes(reader)?;
            }
            SectionId::TileMins(field) => {
                self.field_mut(field, sections)?.statistics.mins = sections.parse_values(field, reader)?;
            }
            SectionId::TileMaxs(field) => {
                self.field_mut(field, sections)?.statistics.maxs = sections.parse_values(field, reader)?;
            }
            SectionId::TileSums(field) => {
                self.field_mut(field, sections)?.statistics.sums = sections.parse_per_tile("tile sums", reader)?;
            }
            SectionId::TileNullCounts(field) => {
                self.field_mut(field, sections)?.statistics.null_counts =
                    sections.parse_per_tile("tile null counts", reader)?;
            }
        }
        Ok(())
    }

    /// Writes the payload of a section.
    pub(crate) fn write_section(
        &self,
        id: SectionId,
        header: &FooterHeader,
        slots: &FieldSlots,
        writer: &mut ByteWriter,
    ) {
        let default = FieldContents::default();
        let field = |field| slots.slot(field).and_then(|slot| self.fields.get(slot)).unwrap_or(&default);
        let no_bounds = GlobalOrderBounds { mins: TileValues::Absent, maxs: TileValues::Absent };
        let bounds = |dimension| self.global_order_bounds.get(dimension).unwrap_or(&no_bounds);
        match id {
            SectionId::RTree => self.rtree.write(writer, header.version),
            SectionId::TileOffsets(id) => field(id).tile_offsets.write(writer),
            SectionId::TileVarOffsets(id) => field(id).tile_var_offsets.write(writer),
            SectionId::TileVarSizes(id) => field(id).tile_var_sizes.write(writer),
            SectionId::TileValidityOffsets(id) => field(id).tile_validity_offsets.write(writer),
            SectionId::TileMins(id) => field(id).statistics.mins.write(writer),
            SectionId::TileMaxs(id) => field(id).statistics.maxs.write(writer),
            SectionId::TileSums(id) => write_counted(&field(id).statistics.sums, writer),
            SectionId::TileNullCounts(id) => write_counted(&field(id).statistics.null_counts, writer),
            SectionId::FragmentStatistics => self.fragment_statistics.write(writer),
            SectionId::ProcessedConditions => self.processed_conditions.write(writer),
            SectionId::GlobalOrderMins(dimension) => bounds(dimension).mins.write(writer),
            SectionId::GlobalOrderMaxs(dimension) => bounds(dimension).maxs.write(writer),
        }
    }

    /// Checks that the contents match the header.
    pub(crate) fn check(&self, header: &FooterHeader, slots: &FieldSlots, tiles: u64, dimensions: usize) -> Result<()> {
        let expect = |what, found: u64, expected: u64| {
            if found == expected { Ok(()) } else { Err(FragmentError::inconsistent(what, found, expected)) }
        };
        let leaves = if header.dense { 0 } else { tiles };
        expect("leaves of the R-tree", self.rtree.leaf_count(), leaves)?;
        if header.version.has(Feature::FragmentStatistics) {
            expect("fields of the fragment statistics", self.fragment_statistics.0.len() as u64, slots.len() as u64)?;
        }
        if !self.global_order_bounds.is_empty() {
            if header.dense || !header.version.has(Feature::GlobalOrderBounds) {
                return Err(FragmentError::inconsistent(
                    "global order bounds",
                    "some",
                    "none in a dense fragment or an older format version",
                ));
            }
            expect("dimensions of the global order bounds", self.global_order_bounds.len() as u64, dimensions as u64)?;
        }
        let bounds = self.global_order_bounds.iter().flat_map(|bounds| [bounds.mins.len(), bounds.maxs.len()]);
        let per_field = self.fields.iter().flat_map(|field| {
            let statistics = &field.statistics;
            [
                field.tile_offsets.len(),
                field.tile_var_offsets.len(),
                field.tile_var_sizes.0.len(),
                field.tile_validity_offsets.len(),
                statistics.mins.len(),
                statistics.maxs.len(),
                statistics.sums.len(),
                statistics.null_counts.len(),
            ]
        });
        let mut lens = per_field.chain(bounds).map(|len| len as u64);
        lens.try_for_each(|len| if len == 0 { Ok(()) } else { expect("entries of a list per tile", len, tiles) })
    }

    fn parse_offsets(
        &mut self,
        field: FragmentField,
        part: Part,
        sections: &SectionParser<'_>,
        reader: &mut ByteReader<'_>,
    ) -> Result<()> {
        *self.field_mut(field, sections)?.offsets_mut(part) = sections.parse_offsets(field, part, reader)?;
        Ok(())
    }

    fn field_mut(&mut self, field: FragmentField, sections: &SectionParser<'_>) -> Result<&mut FieldContents> {
        let slot = sections.footer.slot(field).and_then(|slot| self.fields.get_mut(slot));
        slot.ok_or(FragmentError::NoSuchField { field })
    }

    /// Returns the bounds of a dimension, and extends the list if needed. Dimensions are parsed in
    /// order.
    fn bounds_mut(&mut self, dimension: usize) -> &mut GlobalOrderBounds {
        if self.global_order_bounds.len() <= dimension {
            self.global_order_bounds.resize_with(dimension + 1, GlobalOrderBounds::default);
        }
        &mut self.global_order_bounds[dimension]
    }
}

//! Fragment metadata, with sections in a file or fully in memory.

// A method path in place of a closure would bind the reader to a single lifetime.
#![allow(clippy::redundant_closure_for_method_calls)]

use std::ops::Range;
use std::sync::Arc;

use tdb_filters::ElementTypes;
use tdb_fragment::{
    FieldContents, FragmentContents, FragmentError, FragmentField, FragmentFooter, FragmentStatistics,
    GlobalOrderBounds, Part, ProcessedConditions, SectionId, SectionReader, Step, TileOffsets, TileStatistics,
    TileVarSizes, locate,
};
use tdb_rtree::RTree;
use tdb_schema::ArraySchema;
use tdb_types::FormatVersion;

use super::metadata_file::MetadataFile;
use crate::access::Access;
use crate::{ArrayError, Result};

/// The metadata of a fragment: the footer, and sections read on demand.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) footer: FragmentFooter,
    pub(super) schema: Arc<ArraySchema>,
    pub(super) access: Access,
    pub(super) file: MetadataFile,
    pub(super) sections: Sections,
}

/// The location of the sections.
#[derive(Debug)]
pub(super) enum Sections {
    /// In the file, each read on demand.
    Stored,
    /// In memory. Formats 1 and 2 store all metadata in a single generic tile, which is always read
    /// completely.
    Loaded { contents: Box<FragmentContents>, element_types: ElementTypes },
}

impl Metadata {
    /// Returns the bytes of the footer, if the tail of the file is in memory and contains the
    /// footer.
    pub(super) fn own_footer(&self, version: FormatVersion) -> Option<Vec<u8>> {
        let tail = self.file.tail_with_footer()?;
        let size = self.file.size().ok()?;
        let Ok(Step::Footer(range)) = locate(version, Some(&self.schema), size, tail) else { return None };
        Some(self.file.bytes(range).ok()?.into_owned())
    }

    /// Returns the size of the file in bytes.
    pub(super) fn size(&self) -> Result<u64> {
        self.file.size()
    }

    /// Reads the R-tree over the MBRs of the tiles.
    pub(super) fn rtree(&self) -> Result<RTree> {
        match &self.sections {
            Sections::Loaded { contents, .. } => Ok(contents.rtree.clone()),
            Sections::Stored => self.section(SectionId::RTree, |reader, bytes| reader.rtree(bytes)),
        }
    }

    /// Reads the tile offsets of one part of a field.
    pub(super) fn tile_offsets(&self, field: FragmentField, part: Part) -> Result<TileOffsets> {
        match self.loaded_field(field)? {
            Some(contents) => Ok(contents.offsets(part).clone()),
            None => {
                let id = SectionId::offsets_of(field, part);
                self.section(id, |reader, bytes| reader.tile_offsets(field, part, bytes))
            }
        }
    }

    /// Reads the unfiltered sizes of the tiles with a field's variable-length values.
    pub(super) fn tile_var_sizes(&self, field: FragmentField) -> Result<TileVarSizes> {
        match self.loaded_field(field)? {
            Some(contents) => Ok(contents.tile_var_sizes.clone()),
            None => {
                let id = SectionId::TileVarSizes(field);
                self.section(id, |reader, bytes| reader.tile_var_sizes(field, bytes))
            }
        }
    }

    /// Reads the statistics of a field's tiles. Formats without a footer have none.
    pub(super) fn tile_statistics(&self, field: FragmentField) -> Result<TileStatistics> {
        if let Sections::Loaded { .. } = self.sections {
            return Ok(TileStatistics::default());
        }
        let [mins, maxs, sums, null_counts] = self.sections(SectionId::statistics_of(field))?;
        self.parse(|reader| reader.tile_statistics(field, [&mins, &maxs, &sums, &null_counts]))
    }

    /// Reads the statistics of all fields over the whole fragment.
    pub(super) fn fragment_statistics(&self) -> Result<FragmentStatistics> {
        self.section(SectionId::FragmentStatistics, |reader, bytes| reader.fragment_statistics(bytes))
    }

    /// Reads the first and last coordinates of the tiles along a dimension.
    pub(super) fn global_order_bounds(&self, dimension: usize) -> Result<GlobalOrderBounds> {
        let ids = [SectionId::GlobalOrderMins(dimension), SectionId::GlobalOrderMaxs(dimension)];
        let [mins, maxs] = self.sections(ids)?;
        self.parse(|reader| reader.global_order_bounds(dimension, &mins, &maxs))
    }

    /// Reads the delete conditions that were applied when the fragment was written.
    pub(super) fn processed_conditions(&self) -> Result<ProcessedConditions> {
        match &self.sections {
            Sections::Loaded { contents, .. } => Ok(contents.processed_conditions.clone()),
            Sections::Stored => {
                self.section(SectionId::ProcessedConditions, |reader, bytes| reader.processed_conditions(bytes))
            }
        }
    }

    /// Parses a section and drops the result. If the section `is_alone`, it must end where the next
    /// section begins.
    pub(super) fn check_section(&self, id: SectionId, is_alone: bool) -> Result<()> {
        if let Sections::Loaded { .. } = self.sections {
            return Ok(());
        }
        let range = self.section_range(id)?;
        let len = range.end - range.start;
        let bytes = self.file.bytes(range)?;
        let taken = self.parse(|reader| reader.check(id, &bytes))?;
        if taken == len || !is_alone {
            return Ok(());
        }
        let what = format!("section {id} has {taken} bytes, expected {len} bytes up to the next section");
        Err(ArrayError::Corrupt { file: self.file.described.clone(), what })
    }

    /// Returns the datatypes that the filters received when the fragment was written.
    pub(super) fn element_types(&self) -> Result<ElementTypes> {
        if let Sections::Loaded { element_types, .. } = self.sections {
            return Ok(element_types);
        }
        match self.footer.element_types_range() {
            Some(range) => self.footer.element_types(&self.file.bytes(range)?),
            None => self.footer.element_types(&[]),
        }
        .map_err(|source| self.error(source))
    }

    /// Returns the contents of a field if all metadata is in memory. Returns `None` if the sections
    /// of the field must be read.
    fn loaded_field(&self, field: FragmentField) -> Result<Option<&FieldContents>> {
        let Sections::Loaded { contents, .. } = &self.sections else { return Ok(None) };
        let found = self.footer.slot(field).and_then(|slot| contents.fields.get(slot));
        found.map(Some).ok_or_else(|| self.error(FragmentError::NoSuchField { field }))
    }

    /// Reads and parses a section.
    fn section<T>(
        &self,
        id: SectionId,
        parse: impl FnOnce(&mut SectionReader<'_>, &[u8]) -> Result<T, FragmentError>,
    ) -> Result<T> {
        let bytes = self.file.bytes(self.section_range(id)?)?;
        self.parse(|reader| parse(reader, &bytes))
    }

    /// Reads several sections.
    fn sections<const N: usize>(&self, ids: [SectionId; N]) -> Result<[Vec<u8>; N]> {
        let mut sections = [const { Vec::new() }; N];
        for (bytes, id) in sections.iter_mut().zip(ids) {
            *bytes = self.file.bytes(self.section_range(id)?)?.into_owned();
        }
        Ok(sections)
    }

    fn section_range(&self, id: SectionId) -> Result<Range<u64>> {
        self.footer.section_range(id, self.file.sections_end()?).map_err(|source| self.error(source))
    }

    fn parse<T>(&self, parse: impl FnOnce(&mut SectionReader<'_>) -> Result<T, FragmentError>) -> Result<T> {
        let mut decoder = self.access.decoder();
        parse(&mut SectionReader::new(&self.footer, &self.schema, &mut decoder)).map_err(|source| self.error(source))
    }

    #[cold]
    pub(super) fn error(&self, source: FragmentError) -> ArrayError {
        self.file.error(source)
    }
}

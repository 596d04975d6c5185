//! Stored fragment metadata, for verification.

use tdb_fragment::{
    FragmentField, FragmentStatistics, GlobalOrderBounds, Part, SectionId, TileOffsets, TileStatistics, TileVarSizes,
};
use tdb_types::Feature;

use super::Fragment;
use super::open::UnparsedFragment;
use crate::{ArrayError, Result};

impl Fragment {
    /// Reloads the fragment from its own metadata file, even if its footer is from consolidated
    /// metadata.
    ///
    /// # Errors
    /// The metadata cannot be read, or names another schema.
    pub fn reread(&self) -> Result<Self> {
        let inner = &self.inner;
        let unparsed = UnparsedFragment::read(inner.storage.clone(), &inner.entry, &inner.access)?;
        match unparsed.schema_name() {
            Some(name) if name != self.schema_name() => Err(ArrayError::Corrupt {
                file: inner.metadata.file.described.clone(),
                what: format!(
                    "the footer names the schema {name:?}, but its consolidated copy names {:?}",
                    self.schema_name()
                ),
            }),
            _ => unparsed.parse(self.schema().clone()),
        }
    }

    /// Reads the statistics of a field's tiles. Empty in formats without statistics.
    ///
    /// # Errors
    /// The statistics cannot be read.
    pub fn stored_statistics(&self, field: FragmentField) -> Result<TileStatistics> {
        match self.version().has(Feature::TileStatistics) {
            true => self.inner.metadata.tile_statistics(field),
            false => Ok(TileStatistics::default()),
        }
    }

    /// Reads the statistics of all fields over the whole fragment. Returns `None` in formats
    /// without these statistics.
    ///
    /// # Errors
    /// The statistics cannot be read.
    pub fn stored_totals(&self) -> Result<Option<FragmentStatistics>> {
        let has = self.version().has(Feature::FragmentStatistics);
        has.then(|| self.inner.metadata.fragment_statistics()).transpose()
    }

    /// Reads the offsets of tiles in the data file of a part of a field.
    ///
    /// # Errors
    /// The fragment does not have the part, or the section cannot be read.
    pub fn stored_offsets(&self, field: FragmentField, part: Part) -> Result<TileOffsets> {
        self.inner.metadata.tile_offsets(field, part)
    }

    /// Reads the unfiltered size in bytes of each tile of a variable-length field.
    ///
    /// # Errors
    /// The fragment does not have the field, or the section cannot be read.
    pub fn stored_var_sizes(&self, field: FragmentField) -> Result<TileVarSizes> {
        self.inner.metadata.tile_var_sizes(field)
    }

    /// Reads the first and last coordinates of tiles along a dimension, if stored.
    ///
    /// # Errors
    /// The coordinates cannot be read.
    pub fn stored_order_bounds(&self, dimension: usize) -> Result<Option<GlobalOrderBounds>> {
        let has = self.footer().has_global_order_bounds();
        has.then(|| self.inner.metadata.global_order_bounds(dimension)).transpose()
    }

    /// Returns the unreadable sections of the metadata with the errors. Includes sections not
    /// needed for reading cells.
    #[must_use]
    pub fn damaged_sections(&self) -> Vec<(SectionId, ArrayError)> {
        let footer = self.footer();
        let dimensions = self.schema().dim_count();
        let ids = SectionId::in_file_order(self.version(), *footer.slots(), dimensions, footer.is_dense());
        let ids: Vec<(SectionId, bool)> = ids.map(|id| (id, footer.section_offset(id).is_some())).collect();
        let check = |(index, (id, is_known)): (usize, &(SectionId, bool))| {
            // The footer does not locate all sections. Each unlocated section follows a located
            // section.
            let is_alone = ids.get(index + 1).is_none_or(|(_, is_known)| *is_known);
            let checked = is_known.then(|| self.inner.metadata.check_section(*id, is_alone));
            Some((*id, checked?.err()?))
        };
        ids.iter().enumerate().filter_map(check).collect()
    }

    /// Returns `true` if lossy filters make read values of a field differ from the values described
    /// by the statistics.
    #[must_use]
    pub fn has_lossy_filters(&self, field: FragmentField) -> bool {
        self.loses_values(field)
    }

    /// Returns the size of a cell in bytes. Returns `None` for variable-length cells.
    pub(super) fn cell_size(&self, field: FragmentField) -> Option<usize> {
        let of = match field {
            FragmentField::Attribute(index) => self.schema().attributes().get(index)?.cell_size(),
            FragmentField::Dimension(index) => {
                let dimension = self.schema().dimensions().get(index)?;
                (!dimension.is_var()).then(|| dimension.datatype().size() as u64)
            }
            _ => Some(8),
        };
        of.and_then(|size| usize::try_from(size).ok())
    }
}

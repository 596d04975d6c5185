//! What a fragment's metadata says, as it is stored: for those who check it, and don't believe it.

use tdb_fragment::{
    FragmentField, FragmentStatistics, GlobalOrderBounds, Part, SectionId, TileOffsets, TileStatistics, TileVarSizes,
};
use tdb_types::Feature;

use super::Fragment;
use super::open::UnparsedFragment;
use crate::{ArrayError, Result};

impl Fragment {
    /// The same fragment, with nothing known of it but what its own file of metadata says, also where its footer came with
    /// those of others.
    ///
    /// # Errors
    /// The metadata can't be read, or names another schema.
    pub fn reread(&self) -> Result<Self> {
        let inner = &self.inner;
        let unparsed = UnparsedFragment::read(inner.storage.clone(), &inner.entry, &inner.access)?;
        match unparsed.schema_name() {
            Some(name) if name != self.schema_name() => Err(ArrayError::Corrupt {
                file: inner.metadata.file.described().to_owned(),
                what: format!("the footer names the schema {name:?}, a copy of it {:?}", self.schema_name()),
            }),
            _ => unparsed.parse(self.schema().clone()),
        }
    }

    /// The statistics of a field's tiles; nothing in formats that have none.
    ///
    /// # Errors
    /// They can't be read.
    pub fn stored_statistics(&self, field: FragmentField) -> Result<TileStatistics> {
        match self.version().has(Feature::TileStatistics) {
            true => self.inner.metadata.tile_statistics(field),
            false => Ok(TileStatistics::default()),
        }
    }

    /// The statistics of all fields over the whole fragment; `None` in formats that have none.
    ///
    /// # Errors
    /// They can't be read.
    pub fn stored_totals(&self) -> Result<Option<FragmentStatistics>> {
        let has = self.version().has(Feature::FragmentStatistics);
        has.then(|| self.inner.metadata.fragment_statistics()).transpose()
    }

    /// Where the tiles of a part of a field lie in its data file.
    ///
    /// # Errors
    /// The fragment doesn't have the part, or the section can't be read.
    pub fn stored_offsets(&self, field: FragmentField, part: Part) -> Result<TileOffsets> {
        self.inner.metadata.tile_offsets(field, part)
    }

    /// How many bytes the values of a field of variable length have before the filters, tile by tile.
    ///
    /// # Errors
    /// The fragment doesn't have the field, or the section can't be read.
    pub fn stored_var_sizes(&self, field: FragmentField) -> Result<TileVarSizes> {
        self.inner.metadata.tile_var_sizes(field)
    }

    /// The first and last coordinates of tiles along a dimension, if the fragment has them.
    ///
    /// # Errors
    /// They can't be read.
    pub fn stored_order_bounds(&self, dimension: usize) -> Result<Option<GlobalOrderBounds>> {
        let has = self.footer().has_global_order_bounds();
        has.then(|| self.inner.metadata.global_order_bounds(dimension)).transpose()
    }

    /// The sections of the metadata that can't be read, and why; also those that nobody needs to read cells.
    #[must_use]
    pub fn damaged_sections(&self) -> Vec<(SectionId, ArrayError)> {
        let footer = self.footer();
        let dimensions = self.schema().dim_count();
        let ids = SectionId::in_file_order(self.version(), *footer.slots(), dimensions, footer.is_dense());
        let ids: Vec<(SectionId, bool)> = ids.map(|id| (id, footer.section_offset(id).is_some())).collect();
        let check = |(index, (id, is_known)): (usize, &(SectionId, bool))| {
            // Some are there although the footer doesn't say where. They lie behind one that it knows.
            let is_alone = ids.get(index + 1).is_none_or(|(_, is_known)| *is_known);
            let checked = is_known.then(|| self.inner.metadata.check_section(*id, is_alone));
            Some((*id, checked?.err()?))
        };
        ids.iter().enumerate().filter_map(check).collect()
    }

    /// Whether cells of a field are read with other values than those that its statistics are of, because its filters lose
    /// some of them.
    #[must_use]
    pub fn has_lossy_filters(&self, field: FragmentField) -> bool {
        self.loses_values(field)
    }

    /// Bytes of a cell of a field, unless they vary.
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

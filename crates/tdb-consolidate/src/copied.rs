//! Tiles that are copied into a new fragment in filtered form.

use std::sync::Arc;

use tdb_cells::TileScratch;
use tdb_filters::ChunkIndex;
use tdb_fragment::{FragmentField, StatisticsKind, StatisticsRules, StoredTile, TileStatistics, TileSummary};
use tdb_schema::{ArraySchema, Dimension, FieldRef};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{ArrayError, Fragment, Result};
use tdb_types::{Cells, Feature};
use tdb_write::{EncodedTile, FieldEncoder, Target};

/// A field whose tiles are copied into the new fragment in filtered form.
#[derive(Debug)]
pub(super) struct CopiedField {
    tiles: Arc<FieldTiles>,
    kind: StatisticsKind,
    /// `None` in formats without statistics.
    statistics: Option<TileStatistics>,
}

impl CopiedField {
    /// Returns `None` if the new fragment stores the field differently or if the statistics of the
    /// tiles do not suffice.
    pub(super) fn new(fragment: &Fragment, target: &Target, encoder: &FieldEncoder) -> Result<Option<Self>> {
        let Some(own) = own_field(fragment, target, encoder.field) else { return Ok(None) };
        if !is_filtered_alike(fragment, target, own, encoder.field) {
            return Ok(None);
        }
        let tiles = fragment.tiles_of(own)?;
        let kind = StatisticsKind::of(&target.schema, encoder.field);
        if tiles.combined.is_some()
            || !encoder.stores_alike(&tiles)
            || kind != StatisticsKind::of(fragment.schema(), own)
        {
            return Ok(None);
        }
        let Some(statistics) = statistics_of(fragment, own, kind) else { return Ok(None) };
        Ok(Some(Self { tiles, kind, statistics }))
    }

    /// Copies the tile with this index and number of cells. `coordinates` holds the cells of the
    /// tile if the field is a dimension of a sparse array.
    pub(super) fn tile(
        &self,
        encoder: &FieldEncoder,
        (tile, cells): (u64, u64),
        coordinates: Option<&Cells<'_>>,
        scratch: &mut TileScratch,
    ) -> Result<EncodedTile> {
        let tiles = &*self.tiles;
        let range = coordinates.and_then(|cells| encoder.range_of(cells));
        let ends = coordinates.and_then(|cells| encoder.ends(cells));
        let mut copied = EncodedTile { parts: encoder.empty_parts(), range, ends, ..EncodedTile::default() };
        let [fixed, var, validity] = &mut copied.parts;
        let mut take = |part, size, offsets, to: &mut Vec<u8>| -> Result<()> {
            let len = tiles.stored(part, tile, (size, offsets), scratch)?;
            to.extend_from_slice(&scratch.filtered[..len]);
            Ok(())
        };
        let (mut var_unfiltered, offsets) = (0, cells.saturating_mul(8));
        match &tiles.var {
            None => take(&tiles.fixed, cells.saturating_mul(encoder.size as u64), 0, fixed)?,
            Some((values, _)) => {
                var_unfiltered = tiles.checked_var_size(tile)?;
                take(&tiles.fixed, offsets, 0, fixed)?;
                take(values, var_unfiltered, offsets, var)?;
            }
        }
        if let Some(part) = &tiles.validity {
            take(part, cells, 0, validity)?;
        }
        self.check(tile, cells, encoder, &copied)?;
        let [fixed, var, validity] = copied.parts.each_ref().map(|part| part.len() as u64);
        let summary = match &self.statistics {
            Some(statistics) => {
                TileSummary::stored(self.kind, statistics, tile, cells).ok_or_else(|| self.corrupt(tile))?
            }
            None => TileSummary::unknown(self.kind),
        };
        copied.stored = StoredTile { fixed, var, var_unfiltered, validity, summary };
        Ok(copied)
    }

    /// Checks that the chunk headers of the tile declare the expected unfiltered size, because a
    /// copied tile is never unfiltered.
    fn check(&self, tile: u64, cells: u64, encoder: &FieldEncoder, copied: &EncodedTile) -> Result<()> {
        let tiles = &*self.tiles;
        let [fixed, var, validity] = &copied.parts;
        let check = |part: &tdb_snapshot::tiles::PartTiles, filtered: &[u8], size: u64| {
            let index = ChunkIndex::parse(filtered).map_err(|source| part.error(tile, &tiles.name, source))?;
            let found = index.unfiltered_len();
            if found == size {
                return Ok(());
            }
            let what = format!("tile {tile}: found {found} unfiltered bytes, expected {size}");
            Err(ArrayError::Corrupt { file: part.path.clone(), what })
        };
        let Some((values, _)) = &tiles.var else {
            check(&tiles.fixed, fixed, cells.saturating_mul(encoder.size as u64))?;
            return tiles.validity.as_ref().map_or(Ok(()), |part| check(part, validity, cells));
        };
        // Some filters store the offsets together with the strings. The tile of offsets then has no
        // chunks.
        let is_carried = values.pipeline.can_carry_offsets()
            && ChunkIndex::parse(fixed).is_ok_and(|index| index.chunks().is_empty());
        if !is_carried {
            check(&tiles.fixed, fixed, cells.saturating_mul(8))?;
            check(values, var, tiles.var_size(tile))?;
        }
        tiles.validity.as_ref().map_or(Ok(()), |part| check(part, validity, cells))
    }

    #[cold]
    fn corrupt(&self, tile: u64) -> ArrayError {
        ArrayError::Corrupt { file: self.tiles.fixed.path.clone(), what: format!("tile {tile} does not exist") }
    }
}

/// Returns `true` if both schemas have the same cell order, tile order and tile extents.
pub(super) fn has_same_order(a: &ArraySchema, b: &ArraySchema) -> bool {
    let extents = |schema: &ArraySchema| schema.dimensions().iter().map(Dimension::tile_extent).collect::<Vec<_>>();
    (a.cell_order(), a.tile_order()) == (b.cell_order(), b.tile_order()) && extents(a) == extents(b)
}

/// Returns the field of an existing fragment that corresponds to a field of the new fragment.
/// Returns `None` if there is none.
fn own_field(fragment: &Fragment, target: &Target, field: FragmentField) -> Option<FragmentField> {
    match field {
        FragmentField::Attribute(index) => fragment.own_field(&target.schema, FieldRef::Attribute(index)),
        FragmentField::Dimension(_) => Some(field),
        FragmentField::Timestamps => fragment.footer().header().has_timestamps.then_some(field),
        _ => None,
    }
}

/// Returns `true` if the fragment and the new fragment have the same key, format version and
/// filters for a field.
fn is_filtered_alike(fragment: &Fragment, target: &Target, own: FragmentField, field: FragmentField) -> bool {
    let (ours, theirs, version) = (&target.schema, fragment.schema(), target.version);
    if fragment.key() != target.array.access().key.as_ref() {
        return false;
    }
    // The result of some string filters depends on the version of the schema.
    if fragment.version() != version || theirs.version() != ours.version() {
        return false;
    }
    let of_field = match (own, field) {
        (FragmentField::Attribute(own), FragmentField::Attribute(index)) => {
            theirs.filters_in(version, FieldRef::Attribute(own)) == ours.filters_in(version, FieldRef::Attribute(index))
        }
        (FragmentField::Dimension(own), FragmentField::Dimension(index)) => {
            theirs.filters_in(version, FieldRef::Dimension(own)) == ours.filters_in(version, FieldRef::Dimension(index))
        }
        _ => theirs.coords_filters() == ours.coords_filters(),
    };
    of_field
        && theirs.offsets_filters() == ours.offsets_filters()
        && theirs.validity_filters() == ours.validity_filters()
}

/// Returns the statistics of the fragment's tiles, with an inner `None` in formats without
/// statistics. Returns an outer `None` if the statistics do not suffice for a new fragment.
fn statistics_of(fragment: &Fragment, own: FragmentField, kind: StatisticsKind) -> Option<Option<TileStatistics>> {
    if !fragment.version().has(Feature::TileStatistics) {
        return Some(None);
    }
    let rules = StatisticsRules::new(fragment.footer(), fragment.schema(), own)?;
    if rules.are_wrong_in_small_fragments() {
        return None;
    }
    // Damaged statistics are not an error, because the cells can be read and the statistics
    // recomputed.
    let statistics = fragment.stored_statistics(own).ok()?;
    let last = fragment.tile_count().checked_sub(1)?;
    [0, last].iter().all(|tile| TileSummary::stored(kind, &statistics, *tile, 0).is_some()).then_some(Some(statistics))
}

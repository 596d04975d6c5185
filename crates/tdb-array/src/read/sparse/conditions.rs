//! What cells of a fragment must fulfil: what deletions leave, and what the query wants.

use std::sync::Arc;

use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_schema::{FieldRef, FieldType};
use tdb_types::{Buffer, Cells, Offsets, Validity, saturating_len};

use super::held::{Held, TileData, fixed_len};
use super::selected::SelectedTile;
use crate::query::with_fill_values;
use crate::tiles::{FieldTiles, TileScratch, VarTile};
use crate::{Array, Fragment, Result};

/// The conditions on the cells of a fragment.
#[derive(Debug)]
pub(super) struct Conditions {
    fields: Vec<ConditionField>,
    conditions: Vec<SourceCondition>,
}

/// A field of the fragment that some condition needs.
#[derive(Debug)]
struct ConditionField {
    tiles: Arc<FieldTiles>,
    cells: FieldType,
    /// Which of the selected fields it is.
    shown: Option<usize>,
}

#[derive(Debug)]
struct SourceCondition {
    condition: Arc<BoundCondition>,
    /// For each of the condition's fields its place among the fields; none if the fragment doesn't have it.
    fields: Vec<Option<usize>>,
    /// Cells that were written after this time needn't fulfil it.
    until: Option<u64>,
}

/// What came of the conditions on a tile's cells.
#[derive(Debug)]
pub(super) struct Fulfilled {
    /// Whether each cell fulfils all of them.
    pub(super) stays: Vec<bool>,
    /// What was unfiltered of selected fields to find out, each with the field.
    pub(super) fields: Vec<(usize, Held)>,
}

impl Conditions {
    /// The conditions on the fragment's cells, with the query's; `None` if there aren't any. `selected` are its selected
    /// fields.
    pub(super) fn of(
        fragment: &Fragment,
        array: &Array,
        filter: Option<&BoundCondition>,
        selected: &[Option<Arc<FieldTiles>>],
    ) -> Result<Option<Self>> {
        let mut all = Self { fields: Vec::new(), conditions: Vec::new() };
        for delete in array.deletes_for(fragment)? {
            let tiles = |field| {
                let field = match field {
                    FieldRef::Attribute(index) => FragmentField::Attribute(index),
                    FieldRef::Dimension(index) => FragmentField::Dimension(index),
                };
                fragment.tiles_of(field).map(Some)
            };
            all.add(delete.stays, delete.until, selected, tiles)?;
        }
        if let Some(filter) = filter {
            let schema = array.schema();
            let filter = with_fill_values(filter, schema, |field| !fragment.has_field(schema, field));
            let tiles = |field| fragment.field_tiles(schema, field);
            all.add(Arc::new(filter), None, selected, tiles)?;
        }
        Ok((!all.conditions.is_empty()).then_some(all))
    }

    fn add(
        &mut self,
        condition: Arc<BoundCondition>,
        until: Option<u64>,
        selected: &[Option<Arc<FieldTiles>>],
        tiles: impl Fn(FieldRef) -> Result<Option<Arc<FieldTiles>>>,
    ) -> Result<()> {
        let mut fields = Vec::with_capacity(condition.fields().len());
        for needed in condition.fields() {
            let tiles = tiles(needed.field)?;
            fields.push(tiles.map(|tiles| self.place(tiles, needed.cells, selected)));
        }
        self.conditions.push(SourceCondition { condition, fields, until });
        Ok(())
    }

    /// The place of a field among the fields.
    fn place(&mut self, tiles: Arc<FieldTiles>, cells: FieldType, selected: &[Option<Arc<FieldTiles>>]) -> usize {
        let is_same = |other: &Arc<FieldTiles>| Arc::ptr_eq(other, &tiles);
        if let Some(known) = self.fields.iter().position(|field| is_same(&field.tiles)) {
            return known;
        }
        let shown = selected.iter().position(|other| other.as_ref().is_some_and(is_same));
        self.fields.push(ConditionField { tiles, cells, shown });
        self.fields.len() - 1
    }

    /// The tiles that are needed.
    pub(super) fn tiles(&self) -> impl Iterator<Item = &FieldTiles> {
        self.fields.iter().map(|field| &*field.tiles)
    }

    /// Whether it matters when cells were written.
    pub(super) fn need_times(&self) -> bool {
        self.conditions.iter().any(|condition| condition.until.is_some())
    }

    /// Which cells of a tile fulfil the conditions. `times` says when each cell was written, if that matters.
    pub(super) fn evaluate(
        &self,
        tile: &SelectedTile,
        times: Option<&[u64]>,
        scratch: &mut TileScratch,
    ) -> Result<Fulfilled> {
        let loaded: Vec<Held> = self.fields.iter().map(|field| field.load(tile, scratch)).collect::<Result<_>>()?;
        let cells = tile.cells as usize;
        let mut all = vec![true; cells];
        let mut truth = vec![false; cells];
        for SourceCondition { condition, fields, until } in &self.conditions {
            let columns: Vec<_> = fields.iter().map(|field| field.and_then(|field| cells_of(&loaded[field]))).collect();
            condition.evaluate(&columns, &mut truth);
            if let (Some(until), Some(times)) = (until, times) {
                truth.iter_mut().zip(times).for_each(|(truth, time)| *truth |= time > until);
            }
            all.iter_mut().zip(&truth).for_each(|(all, truth)| *all &= truth);
        }
        let shown = self.fields.iter().zip(loaded).filter_map(|(field, held)| Some((field.shown?, held)));
        Ok(Fulfilled { stays: all, fields: shown.collect() })
    }
}

impl ConditionField {
    /// Unfilters a tile.
    fn load(&self, tile: &SelectedTile, scratch: &mut TileScratch) -> Result<Held> {
        let cells = tile.cells as usize;
        let values = match self.cells.cell_size() {
            None => {
                let mut values = VarTile::default();
                self.tiles.var(tile.tile, cells, &mut values, scratch)?;
                TileData::Var(values)
            }
            Some(size) => {
                let size = saturating_len(size);
                let mut values = Buffer::new();
                values.resize(fixed_len(&self.tiles, cells, size)?);
                self.tiles.fixed(tile.tile, &mut values, scratch)?;
                TileData::Fixed(values)
            }
        };
        let mut validity = None;
        if self.tiles.validity.is_some() {
            let bytes = validity.insert(Buffer::new());
            bytes.resize(cells);
            self.tiles.validity(tile.tile, bytes, scratch)?;
        }
        Ok(Held { cells: Some(values), validity, passing: false })
    }
}

fn cells_of(held: &Held) -> Option<Cells<'_>> {
    let cells = match held.cells.as_ref()? {
        TileData::Fixed(values) => Cells::fixed(values),
        TileData::Var(tile) => Cells::var(Offsets::in_bytes(&tile.offsets), &tile.data),
    };
    Some(cells.with_validity(held.validity.as_deref().map(Validity::Bytes)))
}

//! What cells of a fragment must fulfil: what deletions leave, and what the query wants.

use std::sync::Arc;

use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_schema::{FieldRef, FieldType};
use tdb_types::{Cells, saturating_len};

use super::held::{Held, fixed_len};
use super::selected::SelectedTile;
use crate::tiles::{CellBuffers, FieldTiles, TileScratch};
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
    /// The conditions on the fragment's cells; none if there aren't any. `selected` are its selected fields.
    pub(super) fn of(fragment: &Fragment, array: &Array, selected: &[Option<Arc<FieldTiles>>]) -> Result<Option<Self>> {
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
            let cells_of = |field: usize| self.fields[field].cells(&loaded[field]);
            let columns: Vec<_> = fields.iter().map(|field| field.map(cells_of)).collect();
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
        let mut buffers = CellBuffers::default();
        match self.cells.cell_size() {
            None => self.tiles.var(tile.tile, cells, &mut buffers, scratch)?,
            Some(size) => {
                buffers.values.resize(fixed_len(&self.tiles, cells, saturating_len(size))?);
                self.tiles.fixed(tile.tile, &mut buffers.values, scratch)?;
            }
        }
        if self.tiles.validity.is_some() {
            buffers.validity.resize(cells);
            self.tiles.validity(tile.tile, &mut buffers.validity, scratch)?;
        }
        Ok(Held::of(buffers))
    }

    /// The cells that were loaded.
    fn cells<'a>(&self, held: &'a Held) -> Cells<'a> {
        held.cells.cells(self.cells.cell_size().map_or(1, saturating_len))
    }
}

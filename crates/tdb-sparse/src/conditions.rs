//! What cells of a fragment must fulfil: what deletions leave, and what the query wants.

use std::sync::Arc;

use tdb_cells::{CellBuffers, TileScratch};
use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_query::with_fill_values;
use tdb_schema::{FieldRef, FieldType};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{Fragment, Result, Snapshot};
use tdb_types::{Cells, saturating_len};

use crate::held::{Held, fixed_len};
use crate::selected::SelectedTile;

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
    /// For each of the condition's fields its place among the fields; `None` if the fragment doesn't have it.
    fields: Vec<Option<usize>>,
    applies: Applies,
}

/// Which cells must fulfil a condition.
#[derive(Clone, Copy, Debug)]
enum Applies {
    /// Cells that were written by this time; all cells if it is `None`.
    Until(Option<u64>),
    /// All, as a part of the query's condition with this number.
    AsPart(usize),
}

impl Applies {
    /// Whether it has to be looked at for a tile.
    fn to(self, tile: &SelectedTile) -> bool {
        match self {
            Self::Until(_) => true,
            Self::AsPart(part) => !tile.passes(part),
        }
    }
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
        array: &Snapshot,
        filter: &[BoundCondition],
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
            all.add(delete.stays, Applies::Until(delete.until), selected, tiles)?;
        }
        let schema = array.schema();
        for (part, condition) in filter.iter().enumerate() {
            let condition = with_fill_values(condition, schema, |field| !fragment.has_field(schema, field));
            let tiles = |field| fragment.field_tiles(schema, field);
            all.add(Arc::new(condition), Applies::AsPart(part), selected, tiles)?;
        }
        Ok((!all.conditions.is_empty()).then_some(all))
    }

    fn add(
        &mut self,
        condition: Arc<BoundCondition>,
        applies: Applies,
        selected: &[Option<Arc<FieldTiles>>],
        tiles: impl Fn(FieldRef) -> Result<Option<Arc<FieldTiles>>>,
    ) -> Result<()> {
        let mut fields = Vec::with_capacity(condition.fields().len());
        for needed in condition.fields() {
            let tiles = tiles(needed.field)?;
            fields.push(tiles.map(|tiles| self.place(tiles, needed.cells, selected)));
        }
        self.conditions.push(SourceCondition { condition, fields, applies });
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

    /// The tiles of each field that is needed, and whether a tile is.
    pub(super) fn tiles(&self) -> impl Iterator<Item = (&FieldTiles, impl Fn(&SelectedTile) -> bool)> {
        let needs = move |place: usize| {
            move |tile: &SelectedTile| {
                let needed = |condition: &&SourceCondition| condition.fields.contains(&Some(place));
                self.conditions.iter().filter(needed).any(|condition| condition.applies.to(tile))
            }
        };
        self.fields.iter().enumerate().map(move |(place, field)| (&*field.tiles, needs(place)))
    }

    /// Whether there is anything to look at for a tile.
    pub(super) fn apply_to(&self, tile: &SelectedTile) -> bool {
        self.conditions.iter().any(|condition| condition.applies.to(tile))
    }

    /// Whether it matters when cells were written.
    pub(super) fn need_times(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition.applies, Applies::Until(Some(_))))
    }

    /// Which cells of a tile fulfil the conditions. `times` says when each cell was written, if that matters.
    pub(super) fn evaluate(
        &self,
        tile: &SelectedTile,
        times: Option<&[u64]>,
        scratch: &mut TileScratch,
    ) -> Result<Fulfilled> {
        let mut loaded: Vec<Option<Held>> = self.fields.iter().map(|_| None).collect();
        let cells = tile.cells as usize;
        let mut all = vec![true; cells];
        let mut truth = vec![false; cells];
        for SourceCondition { condition, fields, applies } in &self.conditions {
            if !applies.to(tile) {
                continue;
            }
            // Nothing is unfiltered where other conditions have ruled out all cells.
            if !all.contains(&true) {
                break;
            }
            for field in fields.iter().flatten() {
                if loaded[*field].is_none() {
                    loaded[*field] = Some(self.fields[*field].load(tile, scratch)?);
                }
            }
            let cells_of = |field: usize| loaded[field].as_ref().map(|held| self.fields[field].cells(held));
            let columns: Vec<_> = fields.iter().map(|field| field.and_then(cells_of)).collect();
            condition.evaluate(&columns, &mut truth);
            if let (Applies::Until(Some(until)), Some(times)) = (applies, times) {
                truth.iter_mut().zip(times).for_each(|(truth, time)| *truth |= time > until);
            }
            all.iter_mut().zip(&truth).for_each(|(all, truth)| *all &= truth);
        }
        let shown = self.fields.iter().zip(loaded).filter_map(|(field, held)| Some((field.shown?, held?)));
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

//! Conditions on the cells of a fragment, from delete commits and from the query.

use std::sync::Arc;

use tdb_cells::TileScratch;
use tdb_condition::BoundCondition;
use tdb_fragment::FragmentField;
use tdb_query::with_fill_values;
use tdb_schema::{FieldRef, FieldType};
use tdb_snapshot::tiles::FieldTiles;
use tdb_snapshot::{Fragment, Result, Snapshot};
use tdb_types::{Cells, saturating_len};

use crate::held::Held;
use crate::selected::SelectedTile;

/// The conditions on the cells of a fragment.
#[derive(Debug)]
pub(super) struct Conditions {
    fields: Vec<ConditionField>,
    conditions: Vec<SourceCondition>,
}

/// A field of the fragment, read by a condition.
#[derive(Debug)]
struct ConditionField {
    tiles: Arc<FieldTiles>,
    cells: FieldType,
    /// Index among the selected fields, if selected.
    shown: Option<usize>,
}

#[derive(Debug)]
struct SourceCondition {
    condition: Arc<BoundCondition>,
    /// Index into `Conditions::fields` for each field of the condition. `None` if the fragment
    /// lacks the field.
    fields: Vec<Option<usize>>,
    applies: Applies,
}

/// Scope of a condition.
#[derive(Clone, Copy, Debug)]
enum Applies {
    /// Cells written up to this time, or all cells if `None`.
    Until(Option<u64>),
    /// All cells. The condition is the part of the query's condition with this index.
    AsPart(usize),
}

impl Applies {
    /// Returns `true` if the condition must be evaluated for a tile.
    fn to(self, tile: &SelectedTile) -> bool {
        match self {
            Self::Until(_) => true,
            Self::AsPart(part) => !tile.passes(part),
        }
    }
}

/// Result of the conditions on a tile's cells.
#[derive(Debug)]
pub(super) struct Fulfilled {
    /// `true` for each cell that meets all conditions.
    pub(super) stays: Vec<bool>,
    /// Selected fields that were unfiltered for the evaluation, with indices as in
    /// `ConditionField::shown`.
    pub(super) fields: Vec<(usize, Held)>,
}

impl Conditions {
    /// Collects the conditions of delete commits and of the query. Returns `None` without
    /// conditions. `selected` holds the fragment's selected fields.
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

    /// Returns the index of a field in `fields`. Adds a new field.
    fn place(&mut self, tiles: Arc<FieldTiles>, cells: FieldType, selected: &[Option<Arc<FieldTiles>>]) -> usize {
        let is_same = |other: &Arc<FieldTiles>| Arc::ptr_eq(other, &tiles);
        if let Some(known) = self.fields.iter().position(|field| is_same(&field.tiles)) {
            return known;
        }
        let shown = selected.iter().position(|other| other.as_ref().is_some_and(is_same));
        self.fields.push(ConditionField { tiles, cells, shown });
        self.fields.len() - 1
    }

    /// Returns the tiles of each required field, with a predicate for the tiles to read.
    pub(super) fn tiles(&self) -> impl Iterator<Item = (&FieldTiles, impl Fn(&SelectedTile) -> bool)> {
        let needs = move |place: usize| {
            move |tile: &SelectedTile| {
                let needed = |condition: &&SourceCondition| condition.fields.contains(&Some(place));
                self.conditions.iter().filter(needed).any(|condition| condition.applies.to(tile))
            }
        };
        self.fields.iter().enumerate().map(move |(place, field)| (&*field.tiles, needs(place)))
    }

    /// Returns `true` if at least one condition must be evaluated for a tile.
    pub(super) fn apply_to(&self, tile: &SelectedTile) -> bool {
        self.conditions.iter().any(|condition| condition.applies.to(tile))
    }

    /// Returns `true` if a condition depends on the time at which a cell was written.
    pub(super) fn need_times(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition.applies, Applies::Until(Some(_))))
    }

    /// Evaluates the conditions for each cell of a tile. `times` holds the timestamps of the cells
    /// if a condition depends on timestamps.
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
            // Skip further fields once no cell is left.
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
    fn load(&self, tile: &SelectedTile, scratch: &mut TileScratch) -> Result<Held> {
        let size = self.cells.cell_size().map(saturating_len);
        Ok(Held::of(self.tiles.cells(tile.tile, tile.cells as usize, size, scratch)?))
    }

    /// Returns a view of unfiltered cells.
    fn cells<'a>(&self, held: &'a Held) -> Cells<'a> {
        held.cells.cells(self.cells.cell_size().map_or(1, saturating_len))
    }
}

//! Pruning: tiles without a cell that meets a condition, according to fragment metadata.

use std::ops::Bound;
use std::sync::Arc;

use tdb_condition::{BoundCondition, CellBounds, Matches, Nulls};
use tdb_fragment::{FragmentField, Statistic, ValueStatistics};
use tdb_rtree::{DimRange, NdRange};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{FieldStatistics, FieldTotals, Fragment};
use tdb_types::{PhysicalType, from_ordered_key};

use crate::fill::with_fill_values;
use crate::plan::PrunedBy;

/// A condition on the cells of a fragment, with the statistics for pruning tiles.
#[derive(Debug)]
pub struct Pruner {
    fragment: Fragment,
    condition: BoundCondition,
    fields: Vec<Known>,
    /// `true` if the totals already rule out the whole fragment.
    is_out: bool,
}

/// The source of bounds on a field's cells in a tile.
#[derive(Debug)]
enum Known {
    /// The MBR of the tile.
    Dimension(usize, PhysicalType),
    Statistics(Arc<FieldStatistics>),
    Nothing,
}

/// The minimum and maximum coordinate along a dimension, if both are known.
type Ends = Option<(Vec<u8>, Vec<u8>)>;

/// The source of bounds on a field's cells in a fragment.
enum Bounds {
    Coordinates(Ends),
    Totals(Option<FieldTotals>),
}

impl Pruner {
    /// Creates the pruner and reads the necessary statistics.
    pub fn new(fragment: &Fragment, array: &ArraySchema, condition: &BoundCondition) -> Self {
        let condition = with_fill_values(condition, array, |field| !fragment.has_field(array, field));
        let is_out = condition.constant().is_none() && over_fragment(fragment, array, &condition) == Matches::None;
        let is_decided = is_out || condition.constant().is_some();
        let known = |field: FieldRef| match field {
            _ if is_decided => Known::Nothing,
            FieldRef::Dimension(index) => array
                .dimensions()
                .get(index)
                .map_or(Known::Nothing, |dimension| Known::Dimension(index, dimension.physical())),
            FieldRef::Attribute(_) => match fragment.own_field(array, field) {
                Some(own @ FragmentField::Attribute(_)) => {
                    fragment.statistics_of(own).map_or(Known::Nothing, Known::Statistics)
                }
                _ => Known::Nothing,
            },
        };
        let fields = condition.fields().iter().map(|needed| known(needed.field)).collect();
        Self { fragment: fragment.clone(), condition, fields, is_out }
    }

    /// Returns `true` if certainly no cell of a tile meets the condition.
    pub fn rules_out(&self, tile: u64) -> bool {
        let bounds = self.fields.iter().any(|known| matches!(known, Known::Dimension(..)));
        let bounds = if bounds { self.fragment.tile_box(tile) } else { None };
        self.tile(tile, bounds.as_ref()) == Matches::None
    }

    /// Returns [`Matches::All`] or [`Matches::None`] if certainly all or no cells of a tile meet
    /// the condition, or else [`Matches::Unknown`]. `bounds` is a box around all cells of the tile.
    pub fn tile(&self, tile: u64, bounds: Option<&NdRange>) -> Matches {
        self.judge(tile, bounds, None)
    }

    /// Returns the reason for pruning a tile. The tile must be ruled out.
    pub fn reason(&self, tile: u64, array: &ArraySchema) -> PrunedBy {
        if self.is_out {
            return PrunedBy::Totals;
        }
        if self.condition.constant().is_some() {
            return PrunedBy::FillValues;
        }
        let bounds = self.fragment.tile_box(tile);
        let decides = |place: &usize| self.judge(tile, bounds.as_ref(), Some(*place)) == Matches::None;
        match (0..self.fields.len()).find(decides).map(|place| (&self.fields[place], place)) {
            Some((Known::Dimension(..), _)) => PrunedBy::Box,
            Some((_, place)) => {
                let name = self.condition.fields().get(place).and_then(|needed| array.field_name(needed.field));
                PrunedBy::Statistics(name.unwrap_or_default().to_owned())
            }
            None => PrunedBy::Several,
        }
    }

    /// Judges a tile as in [`tile`](Self::tile). If `only` is given, uses only the bounds of the
    /// field at this index.
    fn judge(&self, tile: u64, bounds: Option<&NdRange>, only: Option<usize>) -> Matches {
        if self.is_out {
            return Matches::None;
        }
        if let Some(truth) = self.condition.constant() {
            return if truth { Matches::All } else { Matches::None };
        }
        let coordinates = self.fields.iter().map(|known| match known {
            Known::Dimension(index, physical) => coordinates(bounds.and_then(|bounds| bounds.0.get(*index)), *physical),
            _ => None,
        });
        let coordinates: Vec<Ends> = coordinates.collect();
        self.condition.over_bounds(|place| match &self.fields[place] {
            _ if only.is_some_and(|only| only != place) => CellBounds::default(),
            Known::Statistics(statistics) => {
                bounds_of(&self.fragment.tile_statistics(statistics, tile), || self.fragment.cells_in_tile(tile))
            }
            Known::Dimension(..) => bounds_of_coordinates(&coordinates[place]),
            Known::Nothing => CellBounds::default(),
        })
    }
}

/// Returns `true` if no cell of the fragment meets the condition, according to fill values,
/// non-empty domain and totals.
pub(super) fn rules_out_fragment(fragment: &Fragment, array: &ArraySchema, condition: &BoundCondition) -> bool {
    let condition = with_fill_values(condition, array, |field| !fragment.has_field(array, field));
    match condition.constant() {
        Some(truth) => !truth,
        None => over_fragment(fragment, array, &condition) == Matches::None,
    }
}

/// Returns [`Matches::All`] or [`Matches::None`] if, according to the non-empty domain and totals,
/// certainly all or no cells of the fragment meet the condition. Otherwise returns
/// [`Matches::Unknown`].
fn over_fragment(fragment: &Fragment, array: &ArraySchema, condition: &BoundCondition) -> Matches {
    let domain = fragment.bounds();
    let known = |field: FieldRef| match field {
        FieldRef::Dimension(index) => {
            let range = domain.as_ref().and_then(|domain| domain.0.get(index));
            let dimension = array.dimensions().get(index);
            Bounds::Coordinates(dimension.and_then(|dimension| coordinates(range, dimension.physical())))
        }
        FieldRef::Attribute(_) => {
            let own = fragment.own_field(array, field).filter(|own| matches!(own, FragmentField::Attribute(_)));
            Bounds::Totals(own.and_then(|own| fragment.totals_of(own)))
        }
    };
    let fields: Vec<Bounds> = condition.fields().iter().map(|needed| known(needed.field)).collect();
    condition.over_bounds(|place| match &fields[place] {
        Bounds::Coordinates(ends) => bounds_of_coordinates(ends),
        Bounds::Totals(totals) => {
            let judged = totals.as_ref().and_then(|totals| fragment.judged(totals));
            judged.map_or(CellBounds::default(), |judged| bounds_of(&judged, || Some(fragment.cell_count())))
        }
    })
}

fn coordinates(range: Option<&DimRange>, physical: PhysicalType) -> Ends {
    match range {
        Some(DimRange::Fixed { lo, hi }) => {
            Some((from_ordered_key(physical, *lo).to_vec(), from_ordered_key(physical, *hi).to_vec()))
        }
        Some(DimRange::Var { lo, hi: Bound::Included(hi) }) => Some((lo.to_vec(), hi.to_vec())),
        Some(DimRange::Var { .. }) | None => None,
    }
}

fn bounds_of_coordinates(ends: &Ends) -> CellBounds<'_> {
    CellBounds { range: ends.as_ref().map(|(low, high)| (&low[..], &high[..])), nulls: Nulls::None }
}

fn bounds_of<'s>(statistics: &ValueStatistics<'s>, cells: impl Fn() -> Option<u64>) -> CellBounds<'s> {
    let nulls = match statistics.null_count {
        Statistic::Present(0) => Nulls::None,
        Statistic::Present(nulls) if Some(nulls) == cells() => Nulls::All,
        _ => Nulls::Unknown,
    };
    CellBounds { range: statistics.min.bound().zip(statistics.max.bound()), nulls }
}

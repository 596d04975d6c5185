//! Splitting of queries by the values of a field, to find the smallest or largest values.

use std::collections::HashMap;

use tdb_aggregate::ValueKind;
use tdb_condition::{Condition, Literal, LiteralKind, Operator, field};
use tdb_fragment::FragmentField;
use tdb_query::FragmentPlan;
use tdb_rtree::DimRange;
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{Fragment, OutputField, Result, unknown_field};
use tdb_types::{ArrayType, Scalar, ordered_key};

use crate::Query;
use crate::read::plan_fragments;

/// The order of values when splitting by value. NaNs count as greater than all other values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FirstValues {
    /// `true` for descending order, with NaNs first.
    pub greatest: bool,
    /// `true` if nulls come before all values, `false` if nulls come last.
    pub nulls: bool,
}

/// Bounds for the number of tiles of the first query. Between these bounds, the first query reads a
/// sixteenth of all tiles.
const LEAST_TILES: usize = 16;
const MOST_TILES: usize = 256;
const SHARE: usize = 16;

impl Query {
    /// Splits the query in two: the cells with the first values of a field, and all other cells.
    /// Each cell is in exactly one of the two queries. A search for the first few values reads the
    /// first query, and restricts the second query by the values found. Usually no tile is left to
    /// read for the second query.
    ///
    /// Statistics of tiles determine the split: the first query reads about a sixteenth of the
    /// tiles, at least 16 and at most 256. Returns `None` if a split has no benefit:
    /// - There are few tiles, or too few tiles have statistics of the field.
    /// - The field's values have no order, or are of an enumeration.
    /// - The array is dense, and the query does not use [`only_matching`](Self::only_matching).
    /// - Conditions cannot compare values of the field's type.
    ///
    /// ```
    /// use tdb_array::{Array, FirstValues};
    ///
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v22-by-2.30.0-sparse-2d/array");
    /// let query = Array::open(folder)?.read();
    /// let parts = match query.split_by_value("a", FirstValues::default())? {
    ///     Some((first, others)) => vec![first, others],
    ///     None => vec![query],
    /// };
    /// # assert_eq!(parts.len(), 1);
    /// # Ok::<(), tdb_array::ArrayError>(())
    /// ```
    ///
    /// # Errors
    /// The field is unknown, or an error of [`plan`](Self::plan).
    pub fn split_by_value(&self, name: &str, first: FirstValues) -> Result<Option<(Self, Self)>> {
        let schema = self.schema();
        let asked = schema.field(name).ok_or_else(|| unknown_field(schema, name))?;
        let Some(kind) = ordered(schema, asked).filter(|_| !schema.is_dense() || self.spec.only_matching) else {
            return Ok(None);
        };
        // Plans reads of this field only. Without any field, a dense array reads nothing.
        let query = self.clone().select([name])?.check()?;
        let ends = Ends { schema: query.array.schema(), asked, kind, first };
        let fragments: HashMap<&str, &Fragment> =
            query.array.fragments()?.iter().map(|fragment| (fragment.folder(), fragment)).collect();
        let mut found = Vec::new();
        let plans = plan_fragments(&query)?.0;
        let tiles = plans.iter().map(|plan| plan.tiles.len()).sum::<usize>();
        if tiles < 2 * LEAST_TILES {
            return Ok(None);
        }
        for plan in &plans {
            if let Some(fragment) = fragments.get(plan.folder.as_str()) {
                ends.add(plan, fragment, &mut found);
            }
        }
        let wanted = (tiles / SHARE).clamp(LEAST_TILES, MOST_TILES);
        // Both queries read tiles without statistics.
        if found.len() < 2 * wanted || 2 * found.len() < tiles {
            return Ok(None);
        }
        let (_, (_, end), _) = found.select_nth_unstable_by(wanted - 1, |(a, _), (b, _)| match first.greatest {
            true => b.cmp(a),
            false => a.cmp(b),
        });
        let [one, other] = halves(schema, name, asked, first, end);
        let (one, other) = (self.clone().filter(one), self.clone().filter(other));
        // The check fails if conditions cannot compare values of the field's type.
        Ok((one.check().is_ok() && other.check().is_ok()).then_some((one, other)))
    }
}

/// Returns the kind of values, if ordered as in conditions.
fn ordered(schema: &ArraySchema, asked: FieldRef) -> Option<ValueKind> {
    let is_enumerated = |index: usize| schema.attributes().get(index).is_none_or(|own| own.enumeration().is_some());
    if matches!(asked, FieldRef::Attribute(index) if is_enumerated(index)) {
        return None;
    }
    let output = OutputField::of(schema, asked);
    Some(output.kind().without_null()).filter(|kind| kind.has_order())
}

/// Returns the conditions for the first values up to `end`, and for all other cells.
fn halves(schema: &ArraySchema, name: &str, asked: FieldRef, first: FirstValues, end: &[u8]) -> [Condition; 2] {
    let output = OutputField::of(schema, asked);
    let compare = |operator| field(name).compare(operator, Literal::new(LiteralKind::Cell, end));
    let (up_to, beyond) = match first.greatest {
        true => (Operator::GreaterOrEqual, Operator::Less),
        false => (Operator::LessOrEqual, Operator::Greater),
    };
    let mut halves = [compare(up_to), compare(beyond)];
    let mut add = |to_first: bool, condition: Condition| {
        let half = &mut halves[usize::from(!to_first)];
        *half = half.clone().or(condition);
    };
    if output.datatype.is_float() && matches!(asked, FieldRef::Attribute(_)) {
        add(first.greatest, field(name).is_nan());
    }
    if output.nullable {
        add(first.nulls, field(name).is_null());
    }
    halves
}

/// A comparable value of the field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Finds the first value of each tile in the order of `FirstValues`.
struct Ends<'a> {
    schema: &'a ArraySchema,
    asked: FieldRef,
    kind: ValueKind,
    first: FirstValues,
}

impl Ends<'_> {
    /// Adds the known first values of a fragment's tiles.
    fn add(&self, plan: &FragmentPlan, fragment: &Fragment, found: &mut Vec<(Key, Vec<u8>)>) {
        let Some(own) = fragment.own_field(self.schema, self.asked) else { return };
        let is_box = matches!(own, FragmentField::Dimension(_)) && fragment.array_type() == ArrayType::Sparse;
        let statistics = if is_box { None } else { fragment.statistics_of(own) };
        for tile in &plan.tiles {
            let end = match (&statistics, own) {
                (Some(statistics), _) => {
                    let known = fragment.tile_statistics(statistics, tile.tile);
                    let end = if self.first.greatest { known.max.bound() } else { known.min.bound() };
                    end.map(<[u8]>::to_vec)
                }
                (None, FragmentField::Dimension(index)) if is_box => self.end_of_box(fragment, tile.tile, index),
                _ => None,
            };
            found.extend(end.and_then(|end| Some((self.key(&end)?, end))));
        }
    }

    fn end_of_box(&self, fragment: &Fragment, tile: u64, dimension: usize) -> Option<Vec<u8>> {
        let physical = self.schema.dimensions().get(dimension)?.physical();
        match fragment.tile_box(tile)?.0.into_iter().nth(dimension)? {
            DimRange::Fixed { lo, hi } => {
                let key = if self.first.greatest { hi } else { lo };
                Some(Scalar::from_key(physical, key).to_le_bytes().to_vec())
            }
            DimRange::Var { lo, .. } if !self.first.greatest => Some(lo),
            DimRange::Var { hi: std::ops::Bound::Included(hi), .. } => Some(hi),
            DimRange::Var { .. } => None,
        }
    }

    fn key(&self, value: &[u8]) -> Option<Key> {
        match self.kind {
            ValueKind::Number(physical) if value.len() == physical.size() => {
                Some(Key::Number(ordered_key(physical, value)))
            }
            ValueKind::Bytes => Some(Key::Bytes(value.to_vec())),
            _ => None,
        }
    }
}

//! Aggregates over ordered values: distinct counts and quantiles.

use tdb_aggregate::GroupRow;
use tdb_query::scan::ScanCost;
use tdb_schema::FieldRef;
use tdb_snapshot::Result;

use super::function::{Aggregate, AggregateFunction};
use super::grouped::SortedGroups;
use super::measure::{Measures, checked};
use crate::Query;

/// The ordered values of fields with frequencies, group by group.
#[derive(Debug)]
pub(super) struct Distributions {
    fields: Vec<Distribution>,
    /// The index of the field for each aggregate over ordered values.
    places: Vec<Option<usize>>,
    functions: Vec<AggregateFunction>,
}

#[derive(Debug)]
struct Distribution {
    field: FieldRef,
    groups: SortedGroups,
    /// The first row of the next group, already read.
    next: Option<GroupRow>,
}

/// The result of an aggregate over ordered values, for a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    /// Not an aggregate over ordered values.
    Elsewhere,
    Count(u64),
    /// A value, or `None` without values.
    Value(Option<Vec<u8>>),
}

impl Distributions {
    /// Creates the distributions for the aggregates over ordered values. `keys` are the grouping
    /// fields.
    pub(super) fn new(query: &Query, keys: &[FieldRef], aggregates: &[Aggregate]) -> Result<Self> {
        let schema = query.schema();
        let mut fields: Vec<FieldRef> = Vec::new();
        let mut places = Vec::new();
        for aggregate in aggregates {
            let field = checked(schema, aggregate)?.filter(|_| aggregate.needs_order());
            places.push(field.map(|(field, _)| {
                fields.iter().position(|known| *known == field).unwrap_or_else(|| {
                    fields.push(field);
                    fields.len() - 1
                })
            }));
        }
        let memory = query.group_memory() / (1 + fields.len());
        let distribution = |field: FieldRef| {
            let measures = Measures::of_values(schema, keys.iter().copied().chain([field]).collect());
            let groups = SortedGroups::new(query.for_scan(&measures.fields)?, &measures, memory);
            Ok(Distribution { field, groups, next: None })
        };
        let fields = fields.into_iter().map(distribution).collect::<Result<_>>()?;
        let functions = aggregates.iter().map(Aggregate::function).collect();
        Ok(Self { fields, places, functions })
    }

    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns the number of tiles visited for all fields.
    pub(super) fn cost(&self) -> ScanCost {
        let mut cost = ScanCost::default();
        self.fields.iter().for_each(|field| cost.add(field.groups.cost));
        cost
    }

    /// Returns the results of all aggregates for the group of `row`. Groups must be requested in
    /// the order of the keys.
    pub(super) fn of(&mut self, row: &GroupRow, measures: &Measures) -> Result<Vec<Found>> {
        let mut found = vec![Found::Elsewhere; self.places.len()];
        for (number, distribution) in self.fields.iter_mut().enumerate() {
            let values = measures.place(distribution.field).and_then(|place| row.summaries.get(place));
            let values = values.map_or(0, tdb_aggregate::Summary::values);
            let mut wanted: Vec<Wanted<'_>> = Vec::new();
            for ((place, function), found) in self.places.iter().zip(&self.functions).zip(&mut found) {
                if *place == Some(number) {
                    wanted.push(Wanted::new(*function, values, found));
                }
            }
            distribution.pass_group(&row.key, &mut wanted)?;
        }
        Ok(found)
    }
}

impl Distribution {
    /// Passes the values of the group with this key to the requested aggregates.
    fn pass_group(&mut self, key: &[Option<Vec<u8>>], wanted: &mut [Wanted<'_>]) -> Result<()> {
        let mut seen: u64 = 0;
        loop {
            let row = match self.next.take() {
                Some(row) => Some(row),
                None => self.groups.next_row()?,
            };
            let Some(row) = row else { return Ok(()) };
            let Some((value, group)) = row.key.split_last() else { return Ok(()) };
            if group != key {
                self.next = Some(row);
                return Ok(());
            }
            if let Some(value) = value {
                seen = row.cells.saturating_add(seen);
                wanted.iter_mut().for_each(|wanted| wanted.pass(value, seen));
            }
        }
    }
}

/// A requested aggregate of a group.
#[derive(Debug)]
struct Wanted<'a> {
    /// The rank of the requested value, from 1. `None` for a distinct count.
    rank: Option<u64>,
    found: &'a mut Found,
}

impl<'a> Wanted<'a> {
    fn new(function: AggregateFunction, values: u64, found: &'a mut Found) -> Self {
        let rank = match function {
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            AggregateFunction::Quantile(part) => {
                *found = Found::Value(None);
                let place = part * values as f64;
                // In doubles, 0.07 * 100 is slightly greater than 7.
                let nearest = place.round();
                let place = if (place - nearest).abs() < nearest * 1e-12 { nearest } else { place.ceil() };
                Some((place as u64).clamp(1, values.max(1)))
            }
            _ => {
                *found = Found::Count(0);
                None
            }
        };
        Self { rank, found }
    }

    /// Takes the next value. `seen` is the number of values so far, including this value.
    fn pass(&mut self, value: &[u8], seen: u64) {
        match (self.rank, &mut *self.found) {
            (None, Found::Count(count)) => *count += 1,
            (Some(rank), Found::Value(found)) if found.is_none() && seen >= rank => *found = Some(value.to_vec()),
            _ => {}
        }
    }
}

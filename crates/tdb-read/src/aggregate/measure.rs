//! The fields and statistics that a scan needs for aggregates.

use std::collections::HashSet;

use tdb_aggregate::{KeyField, KeyShape, Measured, Summary, ValueKind};
use tdb_schema::{ArraySchema, FieldRef};
use tdb_snapshot::{ArrayError, OutputField, Result, unknown_field};

use super::function::{Aggregate, AggregateFunction};

/// The distinct fields read by a scan: the grouping fields, followed by the measured fields that
/// are not grouping fields.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    pub(super) fields: Vec<FieldRef>,
    pub(super) outputs: Vec<OutputField>,
    pub(super) keys: usize,
    pub(super) measured: Vec<(ValueKind, Measured)>,
    /// The index of each measured field among the fields.
    pub(super) places: Vec<usize>,
    pub(super) are_of_values: bool,
}

impl Measures {
    /// Collects the fields and statistics that a scan computes cell by cell for these aggregates.
    pub(super) fn new(schema: &ArraySchema, keys: &[FieldRef], aggregates: &[Aggregate]) -> Result<Self> {
        let mut fields = keys.to_vec();
        let (mut measured, mut places) = (Vec::<(ValueKind, Measured)>::new(), Vec::new());
        for aggregate in aggregates {
            let Some((field, kind)) = checked(schema, aggregate)? else { continue };
            let needed = match aggregate.function() {
                AggregateFunction::Sum | AggregateFunction::Mean => Measured { sum: true, bounds: false },
                AggregateFunction::Min | AggregateFunction::Max => Measured { sum: false, bounds: true },
                _ => Measured::COUNT,
            };
            let place = fields.iter().position(|known| *known == field).unwrap_or_else(|| {
                fields.push(field);
                fields.len() - 1
            });
            match places.iter().position(|known| *known == place) {
                Some(known) => measured[known].1 = measured[known].1.union(needed),
                None => {
                    places.push(place);
                    measured.push((kind, needed));
                }
            }
        }
        Ok(Self { measured, places, ..Self::of(schema, fields, keys.len()) })
    }

    /// Creates measures that group cells by `keys`. The last key is the field with the values to
    /// count.
    pub(super) fn of_values(schema: &ArraySchema, keys: Vec<FieldRef>) -> Self {
        let count = keys.len();
        Self { are_of_values: true, ..Self::of(schema, keys, count) }
    }

    fn of(schema: &ArraySchema, fields: Vec<FieldRef>, keys: usize) -> Self {
        let outputs = fields.iter().map(|field| OutputField::of(schema, *field)).collect();
        Self { fields, outputs, keys, measured: Vec::new(), places: Vec::new(), are_of_values: false }
    }

    /// Returns the index of a field among the measured fields.
    pub(super) fn place(&self, field: FieldRef) -> Option<usize> {
        self.places.iter().position(|place| self.fields[*place] == field)
    }

    /// Returns summaries without cells.
    pub(super) fn summaries(&self) -> Vec<Summary> {
        self.measured.iter().map(|(kind, measured)| Summary::new(*kind, *measured)).collect()
    }

    pub(super) fn key_shape(&self) -> KeyShape {
        let key = |output: &OutputField| KeyField {
            kind: output.kind(),
            size: output.cell_size(),
            nullable: output.may_be_null(),
        };
        KeyShape::new(self.outputs[..self.keys].iter().map(key).collect())
    }
}

/// Resolves the names of grouping fields. Rejects unknown and repeated names.
pub(super) fn key_fields<S: AsRef<str>>(
    schema: &ArraySchema,
    names: impl IntoIterator<Item = S>,
) -> Result<Vec<FieldRef>> {
    let mut seen = HashSet::new();
    let field = |name: S| {
        let name = name.as_ref();
        let field = schema.field(name).ok_or_else(|| unknown_field(schema, name))?;
        match seen.insert(field) {
            true => Ok(field),
            false => Err(ArrayError::Query(format!("cells are grouped by field {name:?} twice"))),
        }
    };
    names.into_iter().map(field).collect()
}

/// Checks that the schema supports an aggregate. Returns the field and the kind of values, or
/// `None` for a count of cells.
pub(super) fn checked(schema: &ArraySchema, aggregate: &Aggregate) -> Result<Option<(FieldRef, ValueKind)>> {
    let Some(name) = aggregate.field() else { return Ok(None) };
    let field = schema.field(name).ok_or_else(|| unknown_field(schema, name))?;
    let output = OutputField::of(schema, field);
    let kind = output.kind();
    let why = match aggregate.function() {
        AggregateFunction::Sum | AggregateFunction::Mean if is_enumerated(schema, field) => {
            Some("the values of an enumeration have no sum".to_owned())
        }
        AggregateFunction::Sum if output.datatype.is_datetime() => Some("dates have no sum".to_owned()),
        AggregateFunction::Sum | AggregateFunction::Mean if !kind.has_sum() => {
            Some(format!("expected single numbers, found cells {}", cells_of(&output)))
        }
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::Quantile(_) if !kind.has_order() => {
            Some(format!("expected ordered values, found cells {}", cells_of(&output)))
        }
        AggregateFunction::Quantile(part) if !(0.0..=1.0).contains(&part) => {
            Some(format!("found {part}, expected a number from 0 to 1"))
        }
        _ => None,
    };
    match why {
        Some(why) => Err(ArrayError::Aggregate { aggregate: aggregate.to_string(), why }),
        None => Ok(Some((field, kind))),
    }
}

fn is_enumerated(schema: &ArraySchema, field: FieldRef) -> bool {
    matches!(field, FieldRef::Attribute(index) if schema.attributes()[index].enumeration().is_some())
}

fn cells_of(output: &OutputField) -> String {
    match output.cell_val_num.fixed() {
        Some(1) => format!("of {}", output.datatype),
        Some(number) => format!("of {number} values of {} each", output.datatype),
        None => format!("of any number of values of {}", output.datatype),
    }
}

//! Changes by tdb: new arrays, schema evolution, deletes.

use tdb_array::{Array, WriteIds};
use tdb_condition::{Condition, Operator};
use tdb_schema::SchemaEvolution;
use tdb_types::FormatVersion;

use super::describe;

use crate::build;
use crate::case::Case;
use crate::place;
use tdb_reference::model::{self, Comparison, Evolution};

/// Creates the array of a case in a format version.
pub fn create(uri: &str, case: &Case, version: FormatVersion) -> Result<(), String> {
    let definition = build::definition(&case.array, version).map_err(|error| describe(&error))?;
    let options = build::options(case.encrypted).1;
    let created = match place::storage(uri).map_err(|error| describe(&error))? {
        Some(storage) => options.create_on(&storage, &definition),
        None => options.create(uri, &definition),
    };
    created.map_err(|error| describe(&error))
}

/// Evolves the array's schema.
pub fn evolve(array: &Array, spec: &Evolution, dimensions: &[model::DimensionSpec]) -> Result<(), String> {
    let mut evolution = SchemaEvolution::new();
    for attribute in &spec.add_attributes {
        evolution = evolution.add_attribute(build::attribute(attribute));
    }
    for name in &spec.drop_attributes {
        evolution = evolution.drop_attribute(name);
    }
    for enumeration in &spec.add_enumerations {
        evolution = evolution.add_enumeration(build::enumeration(enumeration).map_err(|error| describe(&error))?);
    }
    for enumeration in &spec.extend_enumerations {
        evolution = evolution.extend_enumeration(&enumeration.name, build::enumeration_values(enumeration));
    }
    if let Some(ranges) = &spec.expand_current_domain {
        evolution = evolution.expand_current_domain(build::current_domain(dimensions, ranges));
    }
    let names = spec.timestamp.map_or_else(WriteIds::new, |time| WriteIds::new().at(time));
    array.evolve(&evolution, &names).map_err(|error| describe(&error))
}

/// Deletes the cells that match a condition.
pub fn delete(array: &Array, condition: &model::Condition, time: u64) -> Result<(), String> {
    array.delete_cells(&condition_of(condition), &WriteIds::new().at(time)).map_err(|error| describe(&error))
}

/// Converts a condition to tdb's type. Equalities combined by OR become a set, and so do
/// inequalities combined by AND.
pub fn condition_of(condition: &model::Condition) -> Condition {
    for (comparison, negated) in [(Comparison::Equal, false), (Comparison::NotEqual, true)] {
        if let Some((field, values)) = set_of(condition, comparison).filter(|(_, values)| values.len() > 1) {
            return Condition::Member { field: field.to_owned(), negated, values: values.into_iter().collect() };
        }
    }
    match condition {
        model::Condition::Compare { field, comparison, value: Some(value) } => {
            let operator = match comparison {
                Comparison::Less => Operator::Less,
                Comparison::LessOrEqual => Operator::LessOrEqual,
                Comparison::Greater => Operator::Greater,
                Comparison::GreaterOrEqual => Operator::GreaterOrEqual,
                Comparison::Equal => Operator::Equal,
                Comparison::NotEqual => Operator::NotEqual,
            };
            Condition::Compare { field: field.clone(), operator, value: value.0.clone().into() }
        }
        model::Condition::Compare { field, comparison, value: None } => {
            Condition::Null { field: field.clone(), negated: *comparison == Comparison::NotEqual }
        }
        model::Condition::Member { field, values, negated } => Condition::Member {
            field: field.clone(),
            negated: *negated,
            values: values.iter().map(|value| &value.0).collect(),
        },
        model::Condition::And(left, right) => condition_of(left).and(condition_of(right)),
        model::Condition::Or(left, right) => condition_of(left).or(condition_of(right)),
        model::Condition::Not(inner) => condition_of(inner).not(),
    }
}

/// Returns the field and the values of a condition that combines comparisons of one field with the
/// same operator.
fn set_of(condition: &model::Condition, comparison: Comparison) -> Option<(&str, Vec<&[u8]>)> {
    match condition {
        model::Condition::Compare { field, comparison: own, value: Some(value) } if *own == comparison => {
            Some((field.as_str(), vec![value.0.as_slice()]))
        }
        model::Condition::Or(left, right) if comparison == Comparison::Equal => join(left, right, comparison),
        model::Condition::And(left, right) if comparison == Comparison::NotEqual => join(left, right, comparison),
        _ => None,
    }
}

fn join<'a>(
    left: &'a model::Condition,
    right: &'a model::Condition,
    comparison: Comparison,
) -> Option<(&'a str, Vec<&'a [u8]>)> {
    let (field, mut values) = set_of(left, comparison)?;
    let (other, more) = set_of(right, comparison)?;
    values.extend(more);
    (field == other).then_some((field, values))
}

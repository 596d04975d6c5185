//! Random conditions.

use tdb_types::Datatype;

use super::super::case::Case;
use super::super::random::Random;
use super::axis::Axis;
use super::cells::extreme;
use crate::build::enumeration_values;
use tdb_reference::model::{ArraySpec, AttributeSpec, Bytes, Comparison, Condition, EnumerationSpec, WriteSpec};

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// A field for comparisons, with values to compare it with.
struct Comparable<'a> {
    name: &'a str,
    values: Vec<Bytes>,
    has_order: bool,
    is_float: bool,
}

/// The purpose of a condition. The library cannot delete by values that an enumeration lacks.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Delete,
    Read,
}

/// Generates a condition that some cells of the last write may match. Returns `None` if no field
/// can be compared.
pub fn condition(random: &mut Random, array: &ArraySpec, axes: &[Axis], last: &WriteSpec) -> Option<Condition> {
    let attributes = array.attributes.iter();
    let attributes = attributes.filter_map(|attribute| comparable(random, array, attribute, last, Purpose::Delete));
    let attributes: Vec<_> = attributes.collect();
    let fields: Vec<Comparable<'_>> =
        axes.iter().map(of_axis).chain(attributes).filter(|field| !field.values.is_empty()).collect();
    (!fields.is_empty()).then(|| tree(random, &fields, &[], 3))
}

/// Gives most questions a condition on fields of the final schema.
pub fn ask(random: &mut Random, case: &mut Case, axes: &[Axis]) {
    let attributes = case.final_attributes();
    // If a fragment lacks an attribute of the condition, the library returns none of the fragment's
    // cells. In dense arrays it fails.
    let is_old = |attribute: &&AttributeSpec| case.array.attributes.iter().any(|old| old == *attribute);
    let attributes: Vec<&AttributeSpec> = attributes.iter().filter(is_old).collect();
    let nullable = attributes.iter().filter(|attribute| attribute.nullable).map(|attribute| &*attribute.name);
    let nullable: Vec<&str> = nullable.collect();
    let mut conditions = Vec::new();
    for _ in &case.questions {
        let writes: Vec<&WriteSpec> = case.writes().collect();
        let write = if writes.is_empty() { None } else { Some(*random.pick(&writes)) };
        let written = attributes.iter().copied();
        let written = written.filter_map(|attribute| comparable(random, &case.array, attribute, write?, Purpose::Read));
        let written: Vec<_> = written.collect();
        let fields: Vec<Comparable<'_>> =
            axes.iter().map(of_axis).chain(written).filter(|field| !field.values.is_empty()).collect();
        let is_asked = !fields.is_empty() && random.percent(90);
        conditions.push(is_asked.then(|| tree(random, &fields, &nullable, 4)));
    }
    for (question, condition) in case.questions.iter_mut().zip(conditions) {
        // Time travel may select an older schema with other attributes.
        if question.query.timestamps.is_none() {
            question.query.condition = condition;
        }
    }
}

fn of_axis(axis: &Axis) -> Comparable<'_> {
    let is_float = axis.spec.datatype.is_float();
    Comparable { name: &axis.spec.name, values: axis.pool.clone(), has_order: true, is_float }
}

fn comparable<'a>(
    random: &mut Random,
    array: &ArraySpec,
    attribute: &'a AttributeSpec,
    last: &WriteSpec,
    purpose: Purpose,
) -> Option<Comparable<'a>> {
    let name = &attribute.name;
    if let Some(enumeration) = &attribute.enumeration {
        let enumeration = array.enumerations.iter().find(|known| known.name == *enumeration)?;
        let mut values: Vec<_> =
            enumeration_values(enumeration).into_iter().map(|value| Bytes(value.to_vec())).collect();
        if purpose == Purpose::Read {
            values.push(lacking_value(enumeration));
        }
        return Some(Comparable { name, values, has_order: enumeration.ordered, is_float: false });
    }
    let text = matches!(attribute.datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8);
    let opaque = attribute.datatype.is_bytes() || attribute.datatype.is_string() || attribute.datatype == Datatype::Any;
    // The library compares only the first of several fixed-size characters.
    let partly = attribute.datatype == Datatype::Char && attribute.cell_val_num.is_some_and(|number| number > 1);
    if partly || !text && (opaque || attribute.cell_val_num != Some(1)) {
        return None;
    }
    let column = last.cells.iter().find(|column| column.name == *name)?;
    let size = attribute.cell_val_num.unwrap_or(1) as usize * attribute.datatype.size();
    let values =
        column.cells(size).into_iter().filter(|cell| cell.len() < 100).take(50).map(|cell| Bytes(cell.to_vec()));
    let mut values: Vec<Bytes> = values.collect();
    if !text && attribute.datatype != Datatype::Bool {
        (0..values.len().div_ceil(4)).for_each(|_| values.push(Bytes(extreme(random, attribute.datatype.size()))));
    }
    Some(Comparable { name, values, has_order: true, is_float: attribute.datatype.is_float() })
}

fn lacking_value(enumeration: &EnumerationSpec) -> Bytes {
    match enumeration.cell_val_num {
        Some(_) => Bytes(3_u32.to_le_bytes().to_vec()),
        None => Bytes(b"lacking value".to_vec()),
    }
}

fn tree(random: &mut Random, fields: &[Comparable<'_>], nullable: &[&str], depth: usize) -> Condition {
    if depth > 1 && random.percent(45) {
        let (left, right) = (tree(random, fields, nullable, depth - 1), tree(random, fields, nullable, depth - 1));
        return if random.percent(50) { left.and(right) } else { left.or(right) };
    }
    if !nullable.is_empty() && random.percent(15) {
        let (field, comparison) = ((*random.pick(nullable)).to_owned(), *random.pick(&COMPARISONS[..2]));
        return Condition::Compare { field, comparison, value: None };
    }
    let field = random.pick(fields);
    let (name, count) = (field.name.to_owned(), random.between(1, 12));
    let condition = if random.percent(30) {
        let values = (0..count).map(|_| random.pick(&field.values).clone());
        // A set of only the empty string has no bytes, and the library refuses it.
        let values: Vec<Bytes> = values.filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return tree(random, fields, nullable, depth);
        }
        match random.percent(50) {
            // The library compares the bytes of floats in sets. tdb converts these comparisons to a
            // set.
            negated if field.is_float => equalities(&name, &values, negated),
            negated => Condition::Member { field: name, values, negated },
        }
    } else {
        let comparisons = if field.has_order { &COMPARISONS[..] } else { &COMPARISONS[..2] };
        Condition::compare(&name, *random.pick(comparisons), random.pick(&field.values).0.clone())
    };
    if random.percent(15) { Condition::Not(Box::new(condition)) } else { condition }
}

/// Converts a set to comparisons.
fn equalities(field: &str, values: &[Bytes], negated: bool) -> Condition {
    let (comparison, join): (_, fn(Condition, Condition) -> Condition) = match negated {
        true => (Comparison::NotEqual, Condition::and),
        false => (Comparison::Equal, Condition::or),
    };
    let each = values.iter().map(|value| Condition::compare(field, comparison, value.0.clone()));
    each.reduce(join).unwrap_or_else(|| Condition::member(field, Vec::<Vec<u8>>::new(), negated))
}

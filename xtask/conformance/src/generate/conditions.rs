//! Random conditions.

use tdb_types::Datatype;

use super::super::case::Case;
use super::super::random::Random;
use super::axis::Axis;
use tdb_reference::model::{ArraySpec, AttributeSpec, Bytes, Comparison, Condition, EnumerationSpec, WriteSpec};

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// A field that can be compared, and values to compare it with.
struct Comparable<'a> {
    name: &'a str,
    values: Vec<Bytes>,
    has_order: bool,
}

/// A condition on fields of the array that some cells of the last write may fulfil; `None` if no field can be compared.
pub fn condition(random: &mut Random, array: &ArraySpec, axes: &[Axis], last: &WriteSpec) -> Option<Condition> {
    let dimensions =
        axes.iter().map(|axis| Comparable { name: &axis.spec.name, values: axis.pool.clone(), has_order: true });
    let attributes = array.attributes.iter().filter_map(|attribute| comparable(array, attribute, last));
    let fields: Vec<Comparable<'_>> = dimensions.chain(attributes).filter(|field| !field.values.is_empty()).collect();
    (!fields.is_empty()).then(|| tree(random, &fields, &[], 3))
}

/// Gives most questions a condition on fields that the array has at last.
pub fn ask(random: &mut Random, case: &mut Case, axes: &[Axis]) {
    let attributes = case.final_attributes();
    // Where a fragment lacks an attribute of the condition, the library shows no cell of it, or fails in dense arrays.
    let is_old = |attribute: &&AttributeSpec| case.array.attributes.iter().any(|old| old == *attribute);
    let attributes: Vec<&AttributeSpec> = attributes.iter().filter(is_old).collect();
    let nullable = attributes.iter().filter(|attribute| attribute.nullable).map(|attribute| &*attribute.name);
    let nullable: Vec<&str> = nullable.collect();
    let mut conditions = Vec::new();
    for _ in &case.questions {
        let writes: Vec<&WriteSpec> = case.writes().collect();
        let dimensions =
            axes.iter().map(|axis| Comparable { name: &axis.spec.name, values: axis.pool.clone(), has_order: true });
        let write = if writes.is_empty() { None } else { Some(*random.pick(&writes)) };
        let written = attributes.iter().filter_map(|attribute| comparable(&case.array, attribute, write?));
        let fields: Vec<Comparable<'_>> = dimensions.chain(written).filter(|field| !field.values.is_empty()).collect();
        let is_asked = !fields.is_empty() && random.percent(90);
        conditions.push(is_asked.then(|| tree(random, &fields, &nullable, 4)));
    }
    for (question, condition) in case.questions.iter_mut().zip(conditions) {
        // What time travel selects may be an older schema, which has other attributes.
        if question.query.timestamps.is_none() {
            question.query.condition = condition;
        }
    }
}

fn comparable<'a>(array: &ArraySpec, attribute: &'a AttributeSpec, last: &WriteSpec) -> Option<Comparable<'a>> {
    let name = &attribute.name;
    if let Some(enumeration) = &attribute.enumeration {
        let enumeration = array.enumerations.iter().find(|known| known.name == *enumeration)?;
        return Some(Comparable { name, values: enumeration_values(enumeration), has_order: enumeration.ordered });
    }
    let text = matches!(attribute.datatype, Datatype::Char | Datatype::StringAscii | Datatype::StringUtf8);
    let opaque = attribute.datatype.is_bytes() || attribute.datatype.is_string() || attribute.datatype == Datatype::Any;
    // Of fixed-size characters the library compares the first alone.
    let partly = attribute.datatype == Datatype::Char && attribute.cell_val_num.is_some_and(|number| number > 1);
    if partly || !text && (opaque || attribute.cell_val_num != Some(1)) {
        return None;
    }
    let column = last.cells.iter().find(|column| column.name == *name)?;
    let size = attribute.cell_val_num.unwrap_or(1) as usize * attribute.datatype.size();
    let cells: Vec<&[u8]> = match &column.offsets {
        Some(offsets) => offsets.windows(2).map(|ends| &column.values[ends[0] as usize..ends[1] as usize]).collect(),
        None => column.values.chunks_exact(size).collect(),
    };
    let values = cells.into_iter().filter(|cell| cell.len() < 100).take(50).map(|cell| Bytes(cell.to_vec()));
    Some(Comparable { name, values: values.collect(), has_order: true })
}

fn enumeration_values(enumeration: &EnumerationSpec) -> Vec<Bytes> {
    let values = &enumeration.values;
    match &enumeration.offsets {
        Some(offsets) => {
            let ends = offsets.iter().skip(1).copied().chain([values.len() as u64]);
            offsets.iter().zip(ends).map(|(start, end)| Bytes(values[*start as usize..end as usize].to_vec())).collect()
        }
        None => {
            let size = enumeration.datatype.size() * enumeration.cell_val_num.unwrap_or(1) as usize;
            values.chunks_exact(size).map(|value| Bytes(value.to_vec())).collect()
        }
    }
}

/// Fields of `nullable` may be tested for null, too.
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
        // The empty string alone is a set without bytes, which the library refuses.
        let values: Vec<Bytes> = values.filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            return tree(random, fields, nullable, depth);
        }
        Condition::Member { field: name, values, negated: random.percent(50) }
    } else {
        let comparisons = if field.has_order { &COMPARISONS[..] } else { &COMPARISONS[..2] };
        Condition::compare(&name, *random.pick(comparisons), random.pick(&field.values).0.clone())
    };
    if random.percent(15) { Condition::Not(Box::new(condition)) } else { condition }
}

//! Further operations on an array: extended enumerations, expanded current domains, evolution of
//! encrypted arrays.

use tdb_types::ArrayType;

use super::super::case::{Case, Step};
use super::super::random::Random;
use super::axis::Axis;
use super::{conditions, writes};
use crate::scalars::integer_of;
use tdb_reference::model::{AttributeSpec, Bytes, EnumerationSpec, Evolution};

/// Timestamp of the first write. Timestamps of further writes are ten milliseconds apart.
pub(super) const FIRST_TIMESTAMP: u64 = 1_700_000_000_000;
/// Timestamp of the last writes.
const LATE: u64 = FIRST_TIMESTAMP + 1000;

/// A future timestamp, later than all schemas.
pub const AFTER_ALL: u64 = 2_000_000_000_000;

/// Adds steps that change the array further.
pub(super) fn extend(random: &mut Random, case: &mut Case, axes: &mut [Axis], attributes: &[AttributeSpec]) {
    let mut array = case.array.clone();
    if let Some(enumeration) = array.enumerations.first_mut() {
        let added = more_values(random, enumeration);
        append(enumeration, &added);
        case.steps.push(Step::Evolve(Evolution { extend_enumerations: vec![added], ..Evolution::default() }));
        let write = writes::write(random, &array, axes, attributes, LATE);
        let kept = |attribute: &&AttributeSpec| attributes.contains(attribute);
        array.attributes = array.attributes.iter().filter(kept).cloned().collect();
        let condition = (array.array_type == ArrayType::Sparse)
            .then(|| conditions::condition(random, &array, axes, &write))
            .flatten();
        case.steps.push(Step::Write(write));
        if let Some(condition) = condition {
            // The new schemas have the system time. A read of the past uses only the first schema.
            case.steps.push(Step::Delete(condition, AFTER_ALL));
            for question in case.questions.iter_mut().filter(|question| question.query.timestamps.is_none()) {
                question.query.timestamps = Some((0, AFTER_ALL));
            }
        }
    }
    let ranges = match &array.current_domain {
        Some(current) => Some(axes.iter_mut().zip(current).map(|(axis, old)| widened(axis, old)).collect()),
        // An array without a current domain gets one.
        None if random.percent(25) => axes.iter().map(whole).collect::<Option<Vec<_>>>(),
        None => None,
    };
    if let Some(wider) = ranges {
        axes.iter_mut().for_each(|axis| axis.fill_pool(random, 20));
        case.steps.push(Step::Evolve(Evolution { expand_current_domain: Some(wider), ..Evolution::default() }));
        case.steps.push(Step::Write(writes::write(random, &array, axes, attributes, LATE + 10)));
    }
    case.encrypted |= case.evolutions().next().is_some() && random.percent(25);
}

/// Generates values that the enumeration does not contain yet.
fn more_values(random: &mut Random, old: &EnumerationSpec) -> EnumerationSpec {
    let count = random.between(1, 4);
    if old.cell_val_num.is_some() {
        let values = (0..count).flat_map(|value| (value as u32 * 7 + 1).to_le_bytes()).collect();
        return EnumerationSpec { values: Bytes(values), ..old.clone() };
    }
    // No generated string contains a `+`.
    let strings: Vec<String> = (0..count).map(|value| format!("+{value}")).collect();
    let starts = (0..count).map(|value| 2 * value as u64).collect();
    EnumerationSpec { values: Bytes(strings.concat().into_bytes()), offsets: Some(starts), ..old.clone() }
}

fn append(old: &mut EnumerationSpec, added: &EnumerationSpec) {
    let before = old.values.len() as u64;
    old.values.0.extend_from_slice(&added.values);
    if let (Some(offsets), Some(more)) = (&mut old.offsets, &added.offsets) {
        offsets.extend(more.iter().map(|offset| before + offset));
    }
}

/// Returns the domain of the dimension, or `None` for floats and strings.
fn whole(axis: &Axis) -> Option<(Bytes, Bytes)> {
    axis.spec.domain.clone().filter(|_| !axis.spec.datatype.is_float())
}

/// Expands the current domain to the domain, and allows cells to use all of it.
fn widened(axis: &mut Axis, old: &(Bytes, Bytes)) -> (Bytes, Bytes) {
    let Some(domain) = whole(axis) else { return old.clone() };
    let physical = axis.spec.datatype.physical();
    (axis.low, axis.high) = (integer_of(physical, &domain.0), integer_of(physical, &domain.1));
    domain
}

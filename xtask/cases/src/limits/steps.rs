//! Reduces the steps of a case to the operations of an older release.

use tdb_types::{ArrayType, Datatype, Layout};

use super::super::case::{Case, Step};
use super::order::orders_otherwise;
use tdb_reference::model::{AttributeSpec, Column, Condition};
use tdb_reference::{Ability, NEWEST, Release};

/// Removes operations that the release lacks. `enumerated` are the attributes that had an
/// enumeration before.
pub(super) fn limit(case: &mut Case, release: Release, enumerated: &[String]) {
    let attributes = case.all_attributes();
    let sizes: Vec<(String, usize)> =
        attributes.iter().map(|attribute| (attribute.name.clone(), attribute.datatype.size())).collect();
    let nullable = names(&attributes, |attribute| attribute.nullable);
    // The first releases with deletes support only ASCII strings.
    let is_text = |attribute: &AttributeSpec| attribute.cell_val_num.is_none() || attribute.datatype.is_string();
    let text = names(&attributes, |attribute| is_text(attribute) && attribute.datatype != Datatype::StringAscii);
    let dense = case.array.array_type == ArrayType::Dense;
    let unsorted = orders_otherwise(&case.array, release);
    case.steps.retain(|step| match step {
        Step::Consolidate(mode) | Step::Vacuum(mode) => can_consolidate(release, mode, dense, !nullable.is_empty()),
        Step::Delete(condition, _) => can_delete(condition, release, enumerated, &text),
        _ => true,
    });
    if !release.can(Ability::Vacuum) {
        case.steps.retain(|step| !matches!(step, Step::Vacuum(_)));
    }
    for write in case.writes_mut() {
        if !release.can(Ability::WriteTimes) {
            write.timestamp = None;
        }
        // Release 2.2.9 crashes in writes of nullable cells in global order.
        let nulls = release.library == "2.2.9" && !dense && !nullable.is_empty();
        if unsorted || nulls {
            write.layout = Layout::Unordered;
        }
        for column in &mut write.cells {
            if !nullable.contains(&column.name) {
                column.validity = None;
            }
            let size = sizes.iter().find(|(name, _)| *name == column.name).map_or(1, |(_, size)| *size);
            if !release.can(Ability::EmptyCells) {
                fill_empty_cells(column, size, 0);
            } else if release.numbers() < [2, 4, 0] {
                // Before 2.4 the offset after the last value was refused.
                let last = column.offsets.as_ref().map_or(0, |offsets| offsets.len().saturating_sub(2));
                fill_empty_cells(column, size, last);
            }
        }
    }
}

fn can_delete(condition: &Condition, release: Release, enumerated: &[String], text: &[String]) -> bool {
    // Releases from 2.17 to the last but one are wrong in conditions on enumerations. Older
    // releases have no enumerations.
    let enumerated = if release.library == NEWEST { &[] } else { enumerated };
    let unknown = if release.can(Ability::Utf8RunLengths) { &[][..] } else { text };
    let is_free_of = |names: &[String]| !names.iter().any(|name| condition.has_field(name));
    release.can(Ability::Deletes) && can_tell(condition, release) && is_free_of(enumerated) && is_free_of(unknown)
}

fn can_tell(condition: &Condition, release: Release) -> bool {
    match condition {
        Condition::Compare { .. } => true,
        Condition::Member { .. } => release.can(Ability::Membership),
        Condition::And(left, right) | Condition::Or(left, right) => can_tell(left, release) && can_tell(right, release),
        Condition::Not(inner) => release.can(Ability::Negation) && can_tell(inner, release),
    }
}

fn can_consolidate(release: Release, mode: &str, dense: bool, has_nulls: bool) -> bool {
    match mode {
        // Before 2.1, unwritten variable-size cells become garbage, or the release crashes. Before
        // 2.3, nullable cells are not supported.
        "fragments" => (!dense || release.numbers() >= [2, 1, 0]) && (!has_nulls || release.numbers() >= [2, 3, 0]),
        "fragment_meta" => release.can(Ability::Vacuum),
        // Release 2.30.0 cannot open arrays after these modes follow a consolidation of fragments.
        _ => release.can(Ability::CurrentDomains),
    }
}

/// Puts one value into each empty cell, starting with cell `first`.
fn fill_empty_cells(column: &mut Column, size: usize, first: usize) {
    let Some(offsets) = &column.offsets else { return };
    let (mut values, mut starts) = (Vec::new(), vec![0]);
    for (index, ends) in offsets.windows(2).enumerate() {
        values.extend_from_slice(&column.values[ends[0] as usize..ends[1] as usize]);
        if ends[0] == ends[1] && index >= first {
            values.extend(std::iter::repeat_n(b'e', size));
        }
        starts.push(values.len() as u64);
    }
    (column.values, column.offsets) = (values.into(), Some(starts));
}

/// Returns the names of some attributes.
pub(super) fn names(attributes: &[AttributeSpec], wanted: impl Fn(&AttributeSpec) -> bool) -> Vec<String> {
    attributes.iter().filter(|attribute| wanted(attribute)).map(|attribute| attribute.name.clone()).collect()
}

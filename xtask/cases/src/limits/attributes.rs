//! All attributes of a case.

use super::super::case::{Case, Step};
use tdb_reference::model::AttributeSpec;

/// Returns every attribute that the array has at some time.
pub(super) fn all_attributes(case: &Case) -> Vec<AttributeSpec> {
    let added = case.steps.iter().filter_map(|step| match step {
        Step::Evolve(evolution) => Some(&evolution.add_attributes),
        _ => None,
    });
    case.array.attributes.iter().chain(added.flatten()).cloned().collect()
}

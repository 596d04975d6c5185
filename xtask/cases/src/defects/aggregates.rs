//! Known defects of the reference library in aggregates.

use tdb_types::{ArrayType, Datatype, Layout};

use super::is_wrong;
use crate::case::{Case, Question, Step};
use crate::scalars::integer_of;
use crate::values::Kind;
use tdb_reference::model::{AggregateFunction, AggregateSpec, DimensionSpec, FilterSpec, RangesSpec};

/// Returns why the library's aggregates are unreliable. Returns `None` if they are reliable.
pub fn mistakes_aggregates(case: &Case, question: &Question) -> Option<&'static str> {
    // The library computes aggregates of sparse arrays in unordered reads, for any layout.
    let mut unordered = question.clone();
    if case.array.array_type == ArrayType::Sparse {
        unordered.query.layout = Layout::Unordered;
    }
    let strings = |ranges: &RangesSpec| {
        let dimension = case.array.dimension(&ranges.dimension);
        ranges.ranges.len() > 1 && dimension.is_some_and(|spec| spec.domain.is_none())
    };
    let several = question.query.ranges.iter().any(strings);
    is_wrong(case, &unordered).or_else(|| several.then_some("loses cells in several ranges of strings"))
}

/// Returns why the library refuses aggregates. Returns `None` if there is no known reason.
pub fn refuses_aggregates(aggregates: &[(&AggregateSpec, Kind)], message: &str) -> Option<&'static str> {
    let mut null_counts = aggregates.iter().filter(|(aggregate, _)| aggregate.function == AggregateFunction::NullCount);
    let unbound = null_counts.any(|(_, kind)| is_unbound(kind));
    (unbound && message.contains("tile min metadata that's not present"))
        .then_some("needs minimum values to count nulls, also of fields without minimum values")
}

/// `true` if tiles store no minimum and maximum of the field.
fn is_unbound(kind: &Kind) -> bool {
    !kind.is_number() && !matches!(kind.datatype, Datatype::Char | Datatype::StringAscii)
}

/// Returns why the library fails on an aggregate. Returns `None` if there is no known reason.
pub fn fails_on(case: &Case, aggregate: &AggregateSpec) -> Option<&'static str> {
    let name = aggregate.field.as_ref()?;
    let mut added = case.evolutions().flat_map(|evolution| &evolution.add_attributes);
    let is_added = added.any(|attribute| attribute.name == *name);
    is_added.then_some("crashes on aggregates of attributes that a fragment lacks")
}

/// Returns why an aggregate of the library is wrong. Returns `None` if there is no known reason.
pub fn misstates(case: &Case, question: &Question, aggregate: &AggregateSpec, kind: Kind) -> Option<&'static str> {
    let name = aggregate.field.as_ref()?;
    let changes = |filter: &FilterSpec| matches!(filter, FilterSpec::ScaleFloat { .. } | FilterSpec::Webp { .. });
    let attributes = case.final_attributes();
    let mut changed = attributes.iter().filter(|attribute| attribute.filters.filters.iter().any(changes));
    if changed.any(|attribute| attribute.name == *name) {
        return Some("uses statistics of values that filters have changed");
    }
    let counts_nulls = aggregate.function == AggregateFunction::NullCount;
    if counts_nulls && is_unbound(&kind) {
        return Some("uses null counts that were never computed, of fields without minimum values");
    }
    if case.array.array_type == ArrayType::Sparse {
        return None;
    }
    if case.array.dimension(name).is_some() {
        return counts_along_another(case, question)
            .then_some("advances dense coordinates along the wrong dimension if the result is not in cell order");
    }
    if kind.cell_val_num.is_none() && (kind.nullable || attributes.len() > 1) {
        return Some("uses statistics of variable-size fields of dense fragments, which may belong to other cells");
    }
    case.steps
        .contains(&Step::Consolidate("fragments"))
        .then_some("uses statistics of consolidated dense tiles, which include cells that were never written")
}

fn extent(dimension: &DimensionSpec) -> Option<i128> {
    dimension.extent.as_ref().map(|extent| integer_of(dimension.datatype.physical(), extent))
}

/// `true` if the result is in another order than the cells, and tiles have one coordinate along all
/// dimensions but the slowest. The library then assumes cell order.
fn counts_along_another(case: &Case, question: &Question) -> bool {
    let dimensions = &case.array.dimensions;
    let others = match case.array.cell_order {
        Layout::RowMajor => dimensions.get(1..),
        _ => dimensions.get(..dimensions.len() - 1),
    };
    let otherwise = ![case.array.cell_order, Layout::GlobalOrder].contains(&question.query.layout);
    let is_thin = |others: &[DimensionSpec]| !others.is_empty() && others.iter().all(|other| extent(other) == Some(1));
    otherwise && others.is_some_and(is_thin)
}

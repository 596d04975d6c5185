//! Conditions and aggregates.

use tdb_reference::model::{AggregateFunction, AggregateSpec, Comparison, Condition, QuerySpec};
use tdb_types::Layout;

use super::case::{Case, case};
use super::windows::{middle_square, square};
use crate::arrays::{SpeedArray, dense, plain, side_bits, sparse, zstd};
use crate::workload::Group;

/// Returns conditions that match no tile, consecutive cells, or scattered cells.
pub(super) fn condition_cases(side: u64, ten: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let grid = dense("zstd", side, zstd());
    let above = |name: &str, value: f64| Condition::compare(name, Comparison::Greater, value.to_le_bytes());
    let rows = |first: i64, end: i64| {
        let from = Condition::compare("y", Comparison::GreaterOrEqual, first.to_le_bytes());
        from.and(Condition::compare("y", Comparison::Less, end.to_le_bytes()))
    };
    let (global, row_major) = (Layout::GlobalOrder, Layout::RowMajor);
    let rows = [
        ("sparse, none", &plain_points, global, above("a", 1e300)),
        ("sparse, in a row", &plain_points, global, rows(1000, 1100)),
        ("sparse, everywhere", &plain_points, global, above("a", 110.0)),
        ("sparse, zstd, everywhere", &zstd_points, global, above("a", 110.0)),
        ("dense, zstd, none", &grid, row_major, above("value", 1e300)),
        ("dense, zstd, everywhere", &grid, row_major, above("value", 110.0)),
    ];
    let of = |(name, array, layout, condition): (&str, &SpeedArray, _, _)| {
        let query = QuerySpec { condition: Some(condition), ..QuerySpec::all(layout) };
        case(Group::Conditions, &format!("condition, {name}"), array.clone(), query)
    };
    rows.map(of).into()
}

/// Returns aggregates of one attribute: count, sum, minimum and maximum of all cells, of a
/// subarray, and of cells that match a condition.
pub(super) fn aggregate_cases(side: u64, ten: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let layers = sparse("layers", ten / 2, 8, plain(), Layout::RowMajor);
    let plain_grid = dense("plain", side, plain());
    let zstd_grid = dense("zstd", side, zstd());
    let all = QuerySpec::all(Layout::RowMajor);
    let above = |name: &str| {
        let condition = Condition::compare(name, Comparison::Greater, 110.0_f64.to_le_bytes());
        QuerySpec { condition: Some(condition), ..all.clone() }
    };
    let middle = square(side as i64 / 4 + 10, 2000.min(side as i64 / 2));
    let of = |name: &str, array: &SpeedArray, field: &str, query: &QuerySpec| {
        let functions = [AggregateFunction::Sum, AggregateFunction::Min, AggregateFunction::Max];
        let mut aggregates: Vec<_> = functions.iter().map(|function| AggregateSpec::of(*function, field)).collect();
        // For dense arrays the library also counts cells that do not match the condition.
        if query.condition.is_none() || field == "a" {
            aggregates.push(AggregateSpec::count());
        }
        Case { aggregates, ..case(Group::Aggregates, &format!("aggregates, {name}"), array.clone(), query.clone()) }
    };
    vec![
        of("sparse, all", &plain_points, "a", &all),
        of("sparse, box", &plain_points, "a", &middle_square(1 << side_bits(ten))),
        of("sparse, zstd, box", &zstd_points, "a", &middle_square(1 << side_bits(ten))),
        of("sparse, condition", &plain_points, "a", &above("a")),
        of("sparse, zstd, condition", &zstd_points, "a", &above("a")),
        of("sparse, eight fragments", &layers, "a", &all),
        of("dense, all", &plain_grid, "value", &all),
        of("dense, 2000 x 2000", &plain_grid, "value", &middle),
        of("dense, zstd, 2000 x 2000", &zstd_grid, "value", &middle),
        of("dense, condition", &plain_grid, "value", &above("value")),
    ]
}

//! Queries with many points or ranges.

use tdb_types::Layout;

use super::case::{Asking, Case, case};
use super::windows::range;
use crate::arrays::{SpeedArray, dense, plain, side_bits, sparse, zstd};
use crate::workload::Group;
use tdb_reference::model::{QuerySpec, RangesSpec, Rule};

/// Number of points or ranges.
const MANY: u64 = 1000;

/// Returns queries of a thousand points and a thousand ranges, on dense and sparse arrays.
pub(super) fn many_cases(side: u64, ten: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for (filters, pipeline) in [("unfiltered", plain()), ("zstd", zstd())] {
        let name = if filters == "zstd" { "zstd" } else { "plain" };
        let points = sparse(name, ten, 1, pipeline.clone(), Layout::RowMajor);
        let grid = dense(name, side, pipeline);
        let sparse_bits = side_bits(ten);
        cases.extend(point_cases(&format!("sparse, {filters}"), &points, &cells_of(ten, sparse_bits)));
        cases.extend(point_cases(&format!("dense, {filters}"), &grid, &spread(side)));
        let width = 1 << sparse_bits;
        for (order, layout) in [("row-major", Layout::RowMajor), ("unordered", Layout::Unordered)] {
            let ranges = |name: &str, columns| {
                let name = format!("ranges, sparse, {filters}, {name}, {order}");
                case(Group::Many, &name, points.clone(), QuerySpec { layout, ..rows(width, columns) })
            };
            cases.push(ranges("a thousand", None));
            cases.push(ranges("a thousand, 500 columns", Some(500)));
        }
        cases.push(case(
            Group::Many,
            &format!("ranges, dense, {filters}, a thousand"),
            grid.clone(),
            rows(side as i64, None),
        ));
        let narrow = rows(side as i64, Some(500));
        cases.push(case(Group::Many, &format!("ranges, dense, {filters}, a thousand, 500 columns"), grid, narrow));
    }
    cases
}

/// Returns a case with a query per point, and a case with a single query for all points.
fn point_cases(name: &str, array: &SpeedArray, points: &[[i64; 2]]) -> [Case; 2] {
    let sides = [(0, "y"), (1, "x")];
    let ranges = sides.map(|(side, name)| RangesSpec::new(name, points.iter().map(|point| [point[side]; 2])));
    let query = QuerySpec { ranges: ranges.into(), ..QuerySpec::all(Layout::RowMajor) };
    let of = |name: String, asking| Case { asking, ..case(Group::Many, &name, array.clone(), query.clone()) };
    [
        of(format!("points, {name}, a thousand"), Asking::OneByOne),
        of(format!("points, {name}, a thousand, as one"), Asking::Points),
    ]
}

/// Returns sorted coordinates of existing cells, spread over a sparse array.
fn cells_of(cells: u64, bits: u32) -> Vec<[i64; 2]> {
    let coordinate = |dimension, cell| Rule::scattered(0, bits, dimension, cell);
    let points = (0..MANY).map(|point| point * (cells / MANY));
    let mut points: Vec<_> = points.map(|cell| [coordinate(0, cell), coordinate(1, cell)]).collect();
    points.sort_unstable();
    points
}

/// Returns sorted, evenly spread points of a square.
fn spread(side: u64) -> Vec<[i64; 2]> {
    // The step and the side have no common factor, so all points are distinct.
    (0..MANY).map(|point| [(point * side / MANY) as i64, (point * 7919 % side) as i64]).collect()
}

/// Returns a query of a thousand ranges of one row each, a few rows apart. `columns` restricts the
/// columns to the middle.
fn rows(side: i64, columns: Option<i64>) -> QuerySpec {
    // Ranges must not touch.
    let row = |range: i64| [range * (side - 1) / MANY as i64; 2];
    let mut ranges = vec![RangesSpec::new("y", (0..MANY as i64).map(row))];
    if let Some(columns) = columns {
        ranges.push(range("x", side / 2 - 100, columns));
    }
    QuerySpec { ranges, ..QuerySpec::all(Layout::RowMajor) }
}

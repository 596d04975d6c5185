//! Reads of sparse arrays.

use tdb_reference::model::{Bytes, QuerySpec, RangesSpec};
use tdb_types::Layout;

use super::case::{Case, case};
use super::windows::{middle_square, square};
use crate::arrays::{SpeedArray, nullable_points, plain, side_bits, sparse, strings, zstd};
use crate::workload::Group;

pub(super) fn sparse_cases(ten: u64, five: u64, two: u64) -> Vec<Case> {
    let plain_points = sparse("plain", ten, 1, plain(), Layout::RowMajor);
    let zstd_points = sparse("zstd", ten, 1, zstd(), Layout::RowMajor);
    let layers = sparse("layers", ten / 2, 8, plain(), Layout::RowMajor);
    let hilbert = sparse("hilbert", five, 1, plain(), Layout::Hilbert);
    let hilbert_layers = sparse("hilbert-layers", two, 4, plain(), Layout::Hilbert);
    let strings = strings(two);
    let all = QuerySpec::all;
    let side = 1_i64 << side_bits(ten);
    let percent = |layout| QuerySpec { layout, ..square(side / 3, side / 10) };
    let one_column = |layout| QuerySpec { fields: vec!["a".to_owned()], ..all(layout) };
    let box_of = |layout| QuerySpec { layout, ..middle_square(side) };
    let (global, row_major, col_major, unordered) =
        (Layout::GlobalOrder, Layout::RowMajor, Layout::ColMajor, Layout::Unordered);
    named(&[
        ("unfiltered, global", &plain_points, all(global)),
        ("unfiltered, unordered", &plain_points, all(unordered)),
        ("unfiltered, row-major", &plain_points, all(row_major)),
        ("unfiltered, col-major", &plain_points, all(col_major)),
        ("unfiltered, box, global", &plain_points, box_of(global)),
        ("unfiltered, box, row-major", &plain_points, box_of(row_major)),
        ("unfiltered, 64 x 64", &plain_points, square(3000.min(side / 2), 64)),
        ("zstd coordinates, a window of 1 %", &zstd_points, percent(row_major)),
        ("zstd coordinates, a window of 1 %, unordered", &zstd_points, percent(unordered)),
        ("zstd coordinates, one column", &zstd_points, one_column(unordered)),
        ("zstd coordinates, global", &zstd_points, all(global)),
        ("zstd coordinates, row-major", &zstd_points, all(row_major)),
        ("eight fragments, global", &layers, all(global)),
        ("eight fragments, row-major", &layers, all(row_major)),
        ("Hilbert, global", &hilbert, all(global)),
        ("Hilbert, row-major", &hilbert, all(row_major)),
        ("Hilbert, four fragments, global", &hilbert_layers, all(global)),
        ("strings, global", &strings, all(global)),
        ("strings, row-major", &strings, all(row_major)),
        ("strings, a range", &strings, words("3", "5")),
    ])
}

fn named(rows: &[(&str, &SpeedArray, QuerySpec)]) -> Vec<Case> {
    let of = |(name, array, query): &(&str, &SpeedArray, QuerySpec)| {
        case(Group::Sparse, &format!("sparse, {name}"), (*array).clone(), query.clone())
    };
    rows.iter().map(of).collect()
}

/// Returns a query of a range of strings.
fn words(first: &str, last: &str) -> QuerySpec {
    let bound = |word: &str| Bytes(word.as_bytes().to_vec());
    let ranges = vec![RangesSpec { dimension: "id".to_owned(), ranges: vec![(bound(first), bound(last))] }];
    QuerySpec { ranges, ..QuerySpec::all(Layout::RowMajor) }
}

/// Returns reads of ten overlapping fragments with and without duplicates, and of nullable cells.
pub(super) fn layer_cases(five: u64, two: u64) -> Vec<Case> {
    let layers = sparse("ten-layers", five / 2, 10, plain(), Layout::RowMajor);
    let mut duplicates = sparse("ten-layers-duplicates", five / 2, 10, plain(), Layout::RowMajor);
    duplicates.spec.allows_dups = true;
    let nullable = nullable_points(two);
    let all = QuerySpec::all;
    named(&[
        ("ten fragments, row-major", &layers, all(Layout::RowMajor)),
        ("ten fragments, unordered", &layers, all(Layout::Unordered)),
        // In other layouts the library does not define the order of cells with equal coordinates.
        ("ten fragments with duplicates, unordered", &duplicates, all(Layout::Unordered)),
        ("nullable, global", &nullable, all(Layout::GlobalOrder)),
        ("nullable, row-major", &nullable, all(Layout::RowMajor)),
    ])
}

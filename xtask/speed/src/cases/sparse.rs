//! Reads of sparse arrays.

use tdb_reference::model::{Bytes, QuerySpec, RangesSpec};
use tdb_types::Layout;

use super::case::{Case, case, plain, zstd};
use super::windows::{middle_square, square};
use crate::arrays::{nullable_points, side_bits, sparse, strings};
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
    vec![
        case(Group::Sparse, "sparse, unfiltered, global", plain_points.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, unfiltered, unordered", plain_points.clone(), all(Layout::Unordered)),
        case(Group::Sparse, "sparse, unfiltered, row-major", plain_points.clone(), all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, unfiltered, col-major", plain_points.clone(), all(Layout::ColMajor)),
        case(Group::Sparse, "sparse, unfiltered, box, global", plain_points.clone(), box_of(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, unfiltered, box, row-major", plain_points.clone(), box_of(Layout::RowMajor)),
        case(Group::Sparse, "sparse, unfiltered, 64 x 64", plain_points, square(3000.min(side / 2), 64)),
        case(
            Group::Sparse,
            "sparse, zstd coordinates, a window of 1 %",
            zstd_points.clone(),
            percent(Layout::RowMajor),
        ),
        case(
            Group::Sparse,
            "sparse, zstd coordinates, a window of 1 %, unordered",
            zstd_points.clone(),
            percent(Layout::Unordered),
        ),
        case(Group::Sparse, "sparse, zstd coordinates, one column", zstd_points.clone(), one_column(Layout::Unordered)),
        case(Group::Sparse, "sparse, zstd coordinates, global", zstd_points.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, zstd coordinates, row-major", zstd_points, all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, eight fragments, global", layers.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, eight fragments, row-major", layers, all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, Hilbert, global", hilbert.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, Hilbert, row-major", hilbert, all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, Hilbert, four fragments, global", hilbert_layers, all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, strings, global", strings.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, strings, row-major", strings.clone(), all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, strings, a range", strings, words("3", "5")),
    ]
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
    vec![
        case(Group::Sparse, "sparse, ten fragments, row-major", layers.clone(), all(Layout::RowMajor)),
        case(Group::Sparse, "sparse, ten fragments, unordered", layers, all(Layout::Unordered)),
        // In other layouts the library does not define the order of cells with equal coordinates.
        case(Group::Sparse, "sparse, ten fragments with duplicates, unordered", duplicates, all(Layout::Unordered)),
        case(Group::Sparse, "sparse, nullable, global", nullable.clone(), all(Layout::GlobalOrder)),
        case(Group::Sparse, "sparse, nullable, row-major", nullable, all(Layout::RowMajor)),
    ]
}

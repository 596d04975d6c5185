//! Subarrays of queries.

use tdb_reference::model::{QuerySpec, RangesSpec};
use tdb_types::Layout;

/// Returns a range of `len` coordinates.
pub fn range(dimension: &str, first: i64, len: i64) -> RangesSpec {
    RangesSpec::new(dimension, [[first, first + len - 1]])
}

/// Returns a query of a subarray of rows and columns.
pub fn window(rows: (i64, i64), columns: (i64, i64)) -> QuerySpec {
    let ranges = vec![range("y", rows.0, rows.1), range("x", columns.0, columns.1)];
    QuerySpec { ranges, ..QuerySpec::all(Layout::RowMajor) }
}

/// Returns a query of up to 2,000 rows and columns of a square with `side` rows. Small squares get
/// a smaller subarray.
pub fn middle_square(side: i64) -> QuerySpec {
    square(1000.min(side / 4), 2000.min(side / 2))
}

pub fn square(first: i64, len: i64) -> QuerySpec {
    window((first, len), (first, len))
}

//! The result order of a query.

use tdb_types::ParseNameError;

use crate::Result;

/// The order of the cells in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last dimension varies fastest.
    RowMajor,
    /// The first dimension varies fastest.
    ColMajor,
    /// The stored order of the array: tiles in tile order with cells in cell order, or the Hilbert
    /// curve.
    Global,
    /// Any order, chosen for speed.
    Unordered,
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::RowMajor => "row-major",
            Self::ColMajor => "col-major",
            Self::Global => "global",
            Self::Unordered => "unordered",
        })
    }
}

impl std::str::FromStr for Order {
    type Err = ParseNameError;

    /// Parses a name as written by [`Display`](std::fmt::Display).
    /// ```
    /// use tdb_cells::Order;
    ///
    /// for order in [Order::RowMajor, Order::ColMajor, Order::Global, Order::Unordered] {
    ///     assert_eq!(order.to_string().parse(), Ok(order));
    /// }
    /// assert_eq!(
    ///     "rows".parse::<Order>().unwrap_err().to_string(),
    ///     r#""rows" is not a valid order; expected row-major, col-major, global, unordered"#,
    /// );
    /// ```
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "row-major" => Ok(Self::RowMajor),
            "col-major" => Ok(Self::ColMajor),
            "global" => Ok(Self::Global),
            "unordered" => Ok(Self::Unordered),
            _ => Err(ParseNameError::new("order", text, &["row-major", "col-major", "global", "unordered"])),
        }
    }
}

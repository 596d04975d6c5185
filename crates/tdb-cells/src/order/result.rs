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

/// The names of the orders, in the order of the variants.
const NAMES: [&str; 4] = ["row-major", "col-major", "global", "unordered"];

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(NAMES[*self as usize])
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
        let all = [Self::RowMajor, Self::ColMajor, Self::Global, Self::Unordered];
        let order = all.into_iter().zip(NAMES).find(|(_, name)| *name == text);
        order.map(|(order, _)| order).ok_or_else(|| ParseNameError::new("order", text, &NAMES))
    }
}

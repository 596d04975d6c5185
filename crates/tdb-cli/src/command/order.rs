//! The values of `--order`.

use clap::ValueEnum;
use tdb_array::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderArg {
    /// The last dimension varies fastest
    RowMajor,
    /// The first dimension varies fastest
    ColMajor,
    /// The order in which the array stores cells
    Global,
    /// Any order, whichever is fastest
    Unordered,
}

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::RowMajor => Self::RowMajor,
            OrderArg::ColMajor => Self::ColMajor,
            OrderArg::Global => Self::Global,
            OrderArg::Unordered => Self::Unordered,
        }
    }
}

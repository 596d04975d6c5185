//! The order of cells, as options name it.

use clap::ValueEnum;
use tdb_array::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderArg {
    /// The last dimension varies fastest
    RowMajor,
    /// The first dimension varies fastest
    ColMajor,
    /// As the array stores cells
    Global,
    /// Whatever is fastest
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

//! Replacements for functions of DataFusion (55.2): integer arithmetic and sums with overflow
//! errors, and minima and maxima of floats independent of row order.

mod aggregate;
mod arithmetic;
mod mapping;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub(crate) use arithmetic::{combined, is_checked, negated};

use aggregate::MappedAggregate;
use arithmetic::CheckedArithmetic;

/// Returns the checked arithmetic function with this name, for decoding plans. Returns `None` for
/// other names.
#[must_use]
pub fn scalar_function(name: &str) -> Option<Arc<ScalarUDF>> {
    CheckedArithmetic::named(name).map(|function| Arc::new(function.into()))
}

/// Returns `true` if a plan codec has to encode this function by name, because it belongs to this
/// crate.
#[must_use]
pub fn is_own_scalar(function: &ScalarUDF) -> bool {
    function.inner().is::<CheckedArithmetic>()
}

/// Returns the replacement for the aggregate function of DataFusion with this name, for decoding
/// plans. Returns `None` if the function is not replaced.
#[must_use]
pub fn aggregate_function(name: &str) -> Option<Arc<AggregateUDF>> {
    MappedAggregate::named(name).map(|function| Arc::new(function.into()))
}

/// Returns `true` if the aggregate function belongs to this crate. Codecs have to record this,
/// because the name is the same as in DataFusion.
#[must_use]
pub fn is_own_aggregate(function: &AggregateUDF) -> bool {
    function.inner().is::<MappedAggregate>()
}

/// Returns the replacement for an aggregate function of this type. Returns `None` if DataFusion's
/// function is always right.
pub(crate) fn exact_aggregate(function: &AggregateUDF, of: &DataType, checked: bool) -> Option<Arc<AggregateUDF>> {
    if is_own_aggregate(function) {
        return None;
    }
    let exact = MappedAggregate::named(function.name()).filter(|exact| exact.replaces(function, of));
    exact.filter(|exact| checked || !exact.is_sum()).map(|exact| Arc::new(exact.into()))
}

//! Functions that replace those of DataFusion (55.2): arithmetic and sums of integers that report an overflow, and minima and maxima of floats
//! that do not depend on the order of rows.

mod aggregate;
mod arithmetic;
mod mapping;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

pub(crate) use arithmetic::{combined, is_checked, negated};

use aggregate::MappedAggregate;
use arithmetic::CheckedArithmetic;

/// The function of checked arithmetic with this name, for plans that arrive as bytes.
#[must_use]
pub fn scalar_function(name: &str) -> Option<Arc<ScalarUDF>> {
    CheckedArithmetic::named(name).map(|function| Arc::new(function.into()))
}

/// Whether plans have to say that a function is one of these.
#[must_use]
pub fn is_own_scalar(function: &ScalarUDF) -> bool {
    function.inner().is::<CheckedArithmetic>()
}

/// The aggregate function of this crate with the name of one of DataFusion's, for plans that arrive as bytes.
#[must_use]
pub fn aggregate_function(name: &str) -> Option<Arc<AggregateUDF>> {
    MappedAggregate::named(name).map(|function| Arc::new(function.into()))
}

/// Whether plans have to say that an aggregate function is one of these: its name is that of DataFusion's.
#[must_use]
pub fn is_own_aggregate(function: &AggregateUDF) -> bool {
    function.inner().is::<MappedAggregate>()
}

/// What computes an aggregate of a type instead of DataFusion's function, if that can be wrong.
pub(crate) fn exact_aggregate(function: &AggregateUDF, of: &DataType, checked: bool) -> Option<Arc<AggregateUDF>> {
    if is_own_aggregate(function) {
        return None;
    }
    let exact = MappedAggregate::named(function.name()).filter(|exact| exact.replaces(function, of));
    exact.filter(|exact| checked || !exact.is_sum()).map(|exact| Arc::new(exact.into()))
}

//! Aggregates by tdb.

use tdb_array::{Aggregate, Aggregates, Array, Order};
use tdb_types::{Datatype, Layout, Scalar};

use super::{Reading, describe, query, reading};
use crate::case::Question;
use crate::selection::Selection;
use tdb_reference::model::{AggregateFunction, AggregateSpec, QuerySpec};

/// Converts an aggregate to tdb's type.
fn aggregate_of(spec: &AggregateSpec) -> Aggregate {
    let field = spec.field.clone().unwrap_or_default();
    match spec.function {
        AggregateFunction::Count => Aggregate::count(),
        AggregateFunction::Sum => Aggregate::sum(field),
        AggregateFunction::Min => Aggregate::min(field),
        AggregateFunction::Max => Aggregate::max(field),
        AggregateFunction::Mean => Aggregate::mean(field),
        AggregateFunction::NullCount => Aggregate::null_count(field),
    }
}

/// Computes aggregates of a query's cells, in the given order. `None` is null.
pub fn aggregate(
    array: &Array,
    question: &Question,
    aggregates: &[AggregateSpec],
    budget: Option<usize>,
) -> Result<Vec<Option<Vec<u8>>>, String> {
    let spec = QuerySpec { fields: Vec::new(), ..question.query.clone() };
    let query = query(array, &spec, &question.selection, budget)?;
    let found: Aggregates = query.aggregate(aggregates.iter().map(aggregate_of)).map_err(|error| describe(&error))?;
    let named = aggregates.iter().zip(found.batch().columns());
    named
        .map(|(aggregate, column)| match column.name() == aggregate.to_string() && column.len() == 1 {
            // The reference library returns means of dates as doubles too.
            true if aggregate.function == AggregateFunction::Mean && column.datatype() != Datatype::Float64 => {
                let mean = column.cell(0).and_then(|cell| Scalar::from_le_bytes(column.datatype().physical(), cell));
                Ok(mean.map(|mean| mean.to_f64().to_le_bytes().to_vec()))
            }
            true => Ok(column.cell(0).map(<[u8]>::to_vec)),
            false => Err(format!("unexpected column {:?} of {} cells for {aggregate}", column.name(), column.len())),
        })
        .collect()
}

/// Reads some fields of the cells that match the condition and the selection, in any order.
pub fn matching(array: &Array, spec: &QuerySpec, selection: &Selection) -> Result<Reading, String> {
    let spec = QuerySpec { layout: Layout::Unordered, ..spec.clone() };
    reading(query(array, &spec, selection, None)?.order(Order::Unordered).only_matching())
}

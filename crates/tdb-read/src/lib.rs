#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod aggregate;
mod label;
mod query;
mod read;
mod split;

pub use aggregate::{Aggregate, AggregateFunction, Aggregates, Exactness, Grouped, Histogram, Statistics};
pub use label::Label;
pub use query::{Query, QueryBox};
pub use read::Batches;
pub use split::{FirstValues, QueryPart};

// Re-exported because public signatures use types of these crates. Dependents need no manifest
// entry.
pub use {tdb_aggregate, tdb_cells, tdb_condition, tdb_query, tdb_rtree, tdb_schema, tdb_snapshot};

//! Queries from JSON.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde_json::Value;
use tdb_array::tdb_condition::Condition;
use tdb_array::tdb_schema::ArraySchema;
use tdb_array::tdb_types::{Datatype, Scalar};
use tdb_array::{Aggregate, Array, Coordinate, Order, Query};

use crate::failure::{Failure, Result};
use crate::value::parse_coordinate;

/// Ranges of a dimension as ordered keys, ascending.
pub(crate) type Keys = Vec<(u64, u64)>;

type Ends = (Bound<Coordinate>, Bound<Coordinate>);

/// A query as given by the caller.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    columns: Option<Vec<String>>,
    ranges: Vec<(String, Vec<Ends>)>,
    labels: Vec<(String, Vec<Ends>)>,
    condition: Option<Condition>,
    order: Option<Order>,
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
}

fn wrong(name: &str, expected: &str, found: &Value) -> Failure {
    Failure::field(name, format_args!("expected {expected}, found {found}"))
}

fn count(query: &Value, name: &str) -> Result<Option<usize>> {
    match &query[name] {
        Value::Null => Ok(None),
        value => match value.as_u64().and_then(|number| usize::try_from(number).ok()) {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(name, "a count", value)),
        },
    }
}

fn names(query: &Value, name: &str) -> Result<Option<Vec<String>>> {
    match &query[name] {
        Value::Null => Ok(None),
        Value::Array(names) => {
            let texts = names.iter().map(|value| value.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>().map(Some).ok_or_else(|| wrong(name, "names", &query[name]))
        }
        value => Err(wrong(name, "a list of names", value)),
    }
}

fn order_of(value: &Value) -> Result<Option<Order>> {
    Ok(Some(match value.as_str() {
        None if value.is_null() => return Ok(None),
        Some("row-major") => Order::RowMajor,
        Some("column-major") => Order::ColMajor,
        Some("global") => Order::Global,
        Some("unordered") => Order::Unordered,
        _ => return Err(wrong("order", "row-major, column-major, global or unordered", value)),
    }))
}

fn datatype_of(schema: &ArraySchema, name: &str) -> Option<(Datatype, bool)> {
    let dimension = schema.dimensions().iter().find(|dimension| dimension.name() == name);
    let label = || schema.labels().iter().find(|label| label.name == name).map(|label| (label.datatype, true));
    dimension.map(|dimension| (dimension.datatype(), false)).or_else(label)
}

impl Spec {
    /// Parses a query of an array.
    ///
    /// # Errors
    /// A part has the wrong type, or names an unknown dimension.
    pub(crate) fn parse(schema: &ArraySchema, query: &Value) -> Result<Self> {
        let (mut ranges, mut labels) = (Vec::new(), Vec::new());
        let given = match &query["ranges"] {
            Value::Null => None,
            Value::Object(given) => Some(given),
            value => return Err(wrong("ranges", "an object of lists of ranges", value)),
        };
        for (name, given) in given.into_iter().flatten() {
            let Some((datatype, is_label)) = datatype_of(schema, name) else {
                let known = schema
                    .dimensions()
                    .iter()
                    .map(tdb_array::tdb_schema::Dimension::name)
                    .collect::<Vec<_>>()
                    .join(", ");
                return Err(Failure::field(name, format_args!("not a dimension; the array has {known}")));
            };
            let ends = given.as_array().ok_or_else(|| wrong(name, "a list of ranges", given))?;
            let ends = ends.iter().map(|ends| match ends.as_array().map(Vec::as_slice) {
                Some([first, last]) => {
                    let end = |value: &Value, is_last| match value {
                        Value::Null => Ok(Bound::Unbounded),
                        value => parse_coordinate(name, datatype, value, is_last).map(Bound::Included),
                    };
                    Ok((end(first, false)?, end(last, true)?))
                }
                _ => Err(wrong(name, "a range with two ends", ends)),
            });
            let ends = ends.collect::<Result<Vec<_>>>()?;
            if is_label { labels.push((name.clone(), ends)) } else { ranges.push((name.clone(), ends)) }
        }
        let condition = match &query["where"] {
            Value::Null => None,
            Value::String(text) => {
                let condition = text.parse::<Condition>();
                Some(condition.map_err(|error| Failure::usage(format!("condition: {error}")))?)
            }
            value => return Err(wrong("where", "a condition as text", value)),
        };
        Ok(Self {
            columns: names(query, "columns")?,
            ranges,
            labels,
            condition,
            order: order_of(&query["order"])?,
            limit: count(query, "limit")?,
            offset: count(query, "offset")?.unwrap_or(0),
        })
    }

    /// Returns `true` if the query has a condition, a limit or an offset.
    pub(crate) fn is_partial(&self) -> bool {
        self.condition.is_some() || self.limit.is_some() || self.offset > 0
    }

    /// Creates the query. `cut` replaces the ranges of dimensions.
    ///
    /// # Errors
    /// The query does not fit the array, or a label cannot be read.
    pub(crate) fn query(&self, array: &Array, budget: usize, cut: &BTreeMap<usize, Keys>) -> Result<Query> {
        let schema = array.schema();
        let mut query = array.read().budget(budget);
        if let Some(columns) = &self.columns {
            query = query.select(columns)?;
        }
        let is_cut = |name: &str| {
            let place = schema.dimensions().iter().position(|dimension| dimension.name() == name);
            place.is_some_and(|place| cut.contains_key(&place))
        };
        for (name, ranges) in self.ranges.iter().filter(|(name, _)| !is_cut(name)) {
            query = query.ranges(name, ranges.iter().cloned())?;
        }
        // A cut dimension has its labeled ranges already.
        for (name, ranges) in &self.labels {
            let label = schema.labels().iter().find(|label| label.name == *name);
            if label.is_some_and(|label| cut.contains_key(&(label.dimension as usize))) {
                continue;
            }
            for ends in ranges {
                query = query.label_range(name, ends.clone())?;
            }
        }
        for (place, keys) in cut {
            let Some(dimension) = schema.dimensions().get(*place) else { continue };
            let coordinate = |key| Coordinate::from(Scalar::from_key(dimension.physical(), key));
            query = query.ranges(dimension.name(), keys.iter().map(|(lo, hi)| coordinate(*lo)..=coordinate(*hi)))?;
        }
        if let Some(condition) = &self.condition {
            query = query.filter(condition.clone()).only_matching();
        }
        if let Some(order) = self.order {
            query = query.order(order);
        }
        Ok(query)
    }
}

/// Parses a list of aggregates.
///
/// # Errors
/// An aggregate is unknown, or lacks its column.
pub(crate) fn aggregates(list: &Value) -> Result<Vec<Aggregate>> {
    let list = list.as_array().ok_or_else(|| wrong("aggregates", "a list", list))?;
    let each = list.iter().map(|item| {
        let column = item["column"].as_str();
        Ok(match (item["op"].as_str(), column) {
            (Some("count"), None) => Aggregate::count(),
            (Some("count"), Some(column)) => Aggregate::count_of(column),
            (Some("nulls"), Some(column)) => Aggregate::null_count(column),
            (Some("sum"), Some(column)) => Aggregate::sum(column),
            (Some("mean"), Some(column)) => Aggregate::mean(column),
            (Some("min"), Some(column)) => Aggregate::min(column),
            (Some("max"), Some(column)) => Aggregate::max(column),
            _ => {
                let expected = "count, or one of count, nulls, sum, mean, min and max with a column";
                return Err(wrong("aggregates", expected, item));
            }
        })
    });
    each.collect()
}

//! Scans of arrays.

mod metrics;
mod order;
mod parts;
mod pieces;
mod source;
mod statistics;
mod stream;

use std::sync::{Arc, OnceLock};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use tdb_array::tdb_condition::Condition;
use tdb_array::{ArrayError, FirstValues, Order, Query, QueryPart};

use crate::opened::Opened;
use crate::ranges::Sides;
use crate::{error, filter};

pub use pieces::ScanPieces;

/// A scan of an array, as a [`DataSource`](datafusion::datasource::source::DataSource) within a
/// [`DataSourceExec`](datafusion::datasource::source::DataSourceExec).
///
/// The scan is divided into partitions when the first partition is opened, or by
/// [`pieces`](Self::pieces). By then, all filters have been pushed down.
#[derive(Clone, Debug)]
pub struct Scan {
    opened: Arc<Opened>,
    columns: Vec<String>,
    schema: SchemaRef,
    /// Condition on all rows of the result.
    condition: Option<Condition>,
    /// Filters that become narrower while the query runs.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    fetch: Option<usize>,
    /// Order of the rows within each partition, by these leading dimensions.
    order: Option<(Order, Vec<String>)>,
    /// Sort column of a query for the first rows (top k), and the end of its values to start with.
    first: Option<(String, FirstValues)>,
    partitions: usize,
    parts: Arc<OnceLock<Result<Parts, Arc<DataFusionError>>>>,
    statistics: Arc<OnceLock<Arc<Statistics>>>,
    metrics: ExecutionPlanMetricsSet,
}

/// The query parts of each partition, in reading order.
type Parts = Arc<Vec<Vec<QueryPart>>>;

/// Arrays below this number of cells have one partition.
const FEW_CELLS: u64 = 1 << 16;

impl Scan {
    /// Creates a scan of all rows, with the columns at these indices.
    ///
    /// # Errors
    /// The fragment metadata cannot be read.
    pub(crate) fn new(opened: &Arc<Opened>, projection: Option<&Vec<usize>>, partitions: usize) -> Result<Self> {
        let schema = opened.projected(projection)?;
        let cells = opened.cells().map_err(|error| error::of_array(&opened.uri, error))?;
        let partitions = match opened.options.partitions {
            Some(wanted) => wanted,
            None if cells < FEW_CELLS => 1,
            None => partitions.max(1),
        };
        Ok(Self {
            opened: opened.clone(),
            columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
            schema,
            condition: None,
            dynamic: Vec::new(),
            fetch: None,
            order: None,
            first: None,
            partitions,
            parts: Arc::default(),
            statistics: Arc::default(),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// Limits the rows of each partition.
    pub(crate) fn limited(mut self, fetch: Option<usize>) -> Self {
        self.fetch = fetch;
        self
    }

    /// Returns a copy without cached results, to be changed.
    fn changed(&self) -> Self {
        Self {
            parts: Arc::default(),
            statistics: Arc::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            ..self.clone()
        }
    }

    /// Returns the URI of the array.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.opened.uri
    }

    /// Adds a condition by AND.
    fn narrowed(&mut self, condition: Condition) {
        let both = [self.condition.take(), Some(condition)];
        let both = both.into_iter().map(|one| one.map(|condition| filter::Pushed { condition, exact: true }));
        self.condition = filter::all(both.filter(Option::is_some)).map(|pushed| pushed.condition);
    }

    /// Returns the ranges that contain rows, and the remaining condition. Returns `None` if no row
    /// matches.
    fn sides(&self) -> Result<Option<(Sides, Option<Condition>)>, ArrayError> {
        let Some(whole) = self.opened.whole()? else { return Ok(None) };
        Ok(match &self.condition {
            None => Some((whole, None)),
            Some(condition) if filter::is_never(condition) => None,
            Some(condition) => whole.within(self.opened.array_schema(), condition.clone()),
        })
    }

    /// Creates the query.
    fn query(&self) -> Result<Query, ArrayError> {
        let (sides, rest) = self.sides()?.unzip();
        let mut query = self.opened.query(&self.columns, sides.as_ref())?.budget(self.opened.options.budget);
        if let Some(rest) = rest.flatten() {
            query = query.filter(rest);
        }
        Ok(match &self.order {
            Some((order, _)) => query.order(*order),
            None => query.order(Order::Unordered),
        })
    }
}

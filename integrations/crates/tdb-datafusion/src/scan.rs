//! A scan: which columns and rows of an array, in how many partitions.

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

/// A scan of an array, as a [`DataSource`](datafusion::datasource::source::DataSource): plans hold it in a
/// [`DataSourceExec`](datafusion::datasource::source::DataSourceExec).
///
/// What it reads is divided into partitions when the first of them is opened, or when it is written down as [`ScanPieces`]: by then all
/// filters that the plan has for it are there.
#[derive(Clone, Debug)]
pub struct Scan {
    opened: Arc<Opened>,
    columns: Vec<String>,
    schema: SchemaRef,
    /// What every row of the result fulfils.
    condition: Option<Condition>,
    /// Filters that become narrower while the query runs.
    dynamic: Vec<Arc<dyn PhysicalExpr>>,
    fetch: Option<usize>,
    /// The order of each partition's rows, by these leading dimensions.
    order: Option<(Order, Vec<String>)>,
    /// The column of which somebody seeks the first values.
    first: Option<(String, FirstValues)>,
    partitions: usize,
    parts: Arc<OnceLock<Result<Parts, Arc<DataFusionError>>>>,
    statistics: Arc<OnceLock<Arc<Statistics>>>,
    metrics: ExecutionPlanMetricsSet,
}

/// For each partition the parts of the query that it reads, one after the other.
type Parts = Arc<Vec<Vec<QueryPart>>>;

/// Arrays with fewer cells have one partition.
const FEW_CELLS: u64 = 1 << 16;

impl Scan {
    /// All rows, of the columns at these places of the table's.
    ///
    /// # Errors
    /// Metadata of fragments can't be read.
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

    /// At most so many rows of each partition.
    pub(crate) fn limited(mut self, fetch: Option<usize>) -> Self {
        self.fetch = fetch;
        self
    }

    /// The same scan, of which something is about to change: nothing that was found out about it holds any more.
    fn changed(&self) -> Self {
        Self {
            parts: Arc::default(),
            statistics: Arc::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            ..self.clone()
        }
    }

    /// The URI of the array.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.opened.uri
    }

    /// The rows that fulfil a condition too.
    fn narrowed(&mut self, condition: Condition) {
        let both = [self.condition.take(), Some(condition)];
        let both = both.into_iter().map(|one| one.map(|condition| filter::Pushed { condition, exact: true }));
        self.condition = filter::all(both.filter(Option::is_some)).map(|pushed| pushed.condition);
    }

    /// Where rows lie, and what of the condition is left to be looked at; none if there are none.
    fn sides(&self) -> Result<Option<(Sides, Option<Condition>)>, ArrayError> {
        let Some(whole) = self.opened.whole()? else { return Ok(None) };
        Ok(match &self.condition {
            None => Some((whole, None)),
            Some(condition) if filter::is_never(condition) => None,
            Some(condition) => whole.within(self.opened.array_schema(), condition.clone()),
        })
    }

    /// What it asks of the array.
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

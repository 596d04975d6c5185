//! Arrays as tables.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tdb_array::{Array, TimeRange};

use crate::array_planner::is_planner_of;
use crate::opened::Opened;
use crate::scan::Scan;
use crate::{Opener, TableOptions, error, write};

/// An array as a table of DataFusion: its dimensions and then its attributes are the columns, its cells the rows.
///
/// It is one snapshot of the array: a query that reads it twice reads the same rows. The catalogs of [`session`](crate::session) open it
/// anew for each statement.
#[derive(Clone, Debug)]
pub struct TdbTable {
    pub(crate) opened: Arc<Opened>,
    /// What opens it anew; none of one that was given open.
    pub(crate) opener: Option<Opener>,
}

impl TdbTable {
    /// Opens the array at a URI.
    ///
    /// # Errors
    /// There is no array, or it can't be opened; a column has no counterpart in SQL.
    pub async fn open(uri: &str, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let (uri, opener) = (uri.to_owned(), opener.clone());
        let opened = move || Self::open_blocking(&uri, &opener, options);
        error::joined(tokio::task::spawn_blocking(opened).await)
    }

    /// The same, on this thread.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_blocking(uri: &str, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let array = opener.array(uri, options.time)?;
        Self::opened(uri, array, opener, options)
    }

    /// An array that the opener has opened.
    pub(crate) fn opened(uri: &str, array: Array, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let opened = opener.opened(uri, array, options)?;
        Ok(Arc::new(Self { opened, opener: Some(opener.clone()) }))
    }

    /// An array that is open, as it is. It should have been opened with one thread: there are as many scans of it as partitions.
    ///
    /// # Errors
    /// A column has no counterpart in SQL; metadata can't be read.
    pub fn of(array: &Array, options: TableOptions) -> Result<Arc<Self>> {
        let storage = array.storage();
        let uri = storage.uri("").unwrap_or_else(|| storage.describe(""));
        Ok(Arc::new(Self { opened: Opened::new(&uri, array.clone(), options)?, opener: None }))
    }

    /// The same table as it is now, if it wasn't opened at a time of its own.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn reopened(&self) -> Result<Arc<Self>> {
        match &self.opener {
            Some(opener) if self.opened.options.time.is_none() => {
                Self::open(&self.opened.uri, opener, self.opened.options.clone()).await
            }
            _ => Ok(Arc::new(self.clone())),
        }
    }

    /// The same table as it was at a time.
    ///
    /// # Errors
    /// It was given open, or at a time of its own; as [`open`](Self::open).
    pub(crate) async fn at(&self, time: TimeRange) -> Result<Arc<Self>> {
        match &self.opener {
            Some(opener) if self.opened.options.time.is_none() => {
                Self::open(&self.opened.uri, opener, self.opened.options.clone().between(time)).await
            }
            _ => Err(error::plan(format!("{:?} is opened at a time already", self.opened.uri))),
        }
    }

    /// The array.
    #[must_use]
    pub fn array(&self) -> &Array {
        &self.opened.array
    }

    /// Where it lies.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.opened.uri
    }
}

#[async_trait]
impl TableProvider for TdbTable {
    fn schema(&self) -> SchemaRef {
        self.opened.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut scan = Scan::new(&self.opened, projection, state.config().target_partitions())?;
        if self.opened.options.pushdown {
            scan = scan.limited(limit);
        }
        Ok(DataSourceExec::from_data_source(scan))
    }

    /// None here: filters reach the scan as physical expressions, together with those that joins and sorts find while they run.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()])
    }

    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        operation: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        write::insert(&self.opened, input, operation)
    }

    /// Deletes rows, in sessions of this crate: other planners may leave out parts of the condition.
    async fn delete_from(&self, state: &dyn Session, filters: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        if !is_planner_of(state) {
            return Err(error::plan(
                "DELETE from an array takes a session of tdb-datafusion, whose planner checks its condition",
            ));
        }
        write::delete(&self.opened, state, &filters)
    }
}

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

/// An array as a table of DataFusion. Columns are the dimensions, followed by the attributes. Rows
/// are the cells.
///
/// The table is a snapshot: two scans in one query read the same rows. Catalogs of
/// [`session`](crate::session) reopen the array for each statement.
#[derive(Clone, Debug)]
pub struct TdbTable {
    pub(crate) opened: Arc<Opened>,
    /// Opener for reopening. `None` if created from an open array.
    pub(crate) opener: Option<Opener>,
}

impl TdbTable {
    /// Opens the array at a URI.
    ///
    /// # Errors
    /// The array does not exist or cannot be opened, or a column has no SQL type.
    pub async fn open(uri: &str, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let (uri, opener) = (uri.to_owned(), opener.clone());
        let opened = move || Self::open_blocking(&uri, &opener, options);
        error::blocking(opened).await
    }

    /// Opens the array at a URI like [`open`](Self::open), but blocks the calling thread.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn open_blocking(uri: &str, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let array = opener.array(uri, options.time)?;
        Self::opened(uri, array, opener, options)
    }

    /// Creates the table of an array from the opener.
    pub(crate) fn opened(uri: &str, array: Array, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let opened = opener.opened(uri, array, options)?;
        Ok(Arc::new(Self { opened, opener: Some(opener.clone()) }))
    }

    /// Creates the table of an open array. Open the array with one thread, because each partition
    /// runs a scan.
    ///
    /// # Errors
    /// A column has no SQL type, or the enumerations or fragment metadata cannot be read.
    pub fn of(array: &Array, options: TableOptions) -> Result<Arc<Self>> {
        let storage = array.storage();
        let uri = storage.uri("").unwrap_or_else(|| storage.describe(""));
        Ok(Arc::new(Self { opened: Opened::new(&uri, array.clone(), options)?, opener: None }))
    }

    /// Returns the table in its current state. Tables with a fixed time stay unchanged.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub async fn reopened(&self) -> Result<Arc<Self>> {
        match &self.opener {
            Some(opener) if self.opened.options.time.is_none() => {
                Self::open(&self.opened.uri, opener, self.opened.options.clone()).await
            }
            _ => Ok(Arc::new(self.clone())),
        }
    }

    /// Returns the table at a time.
    ///
    /// # Errors
    /// The table was created from an open array or has a fixed time. Otherwise as for
    /// [`open`](Self::open).
    pub(crate) async fn at(&self, time: TimeRange) -> Result<Arc<Self>> {
        match &self.opener {
            Some(opener) if self.opened.options.time.is_none() => {
                Self::open(&self.opened.uri, opener, self.opened.options.clone().between(time)).await
            }
            _ => Err(error::plan(format!("{:?} is already opened at a time", self.opened.uri))),
        }
    }

    /// Returns the array.
    #[must_use]
    pub fn array(&self) -> &Array {
        &self.opened.array
    }

    /// Returns the URI of the array.
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

    /// Reports all filters as unsupported. Instead, filters reach the scan as physical expressions,
    /// together with the dynamic filters of joins and sorts.
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

    /// Deletes rows. Requires a session of this crate, because other planners may drop parts of the
    /// condition.
    async fn delete_from(&self, state: &dyn Session, filters: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        if !is_planner_of(state) {
            return Err(error::plan(
                "DELETE from an array needs a session of tdb-datafusion, whose planner checks the condition",
            ));
        }
        write::delete(&self.opened, state, &filters)
    }
}

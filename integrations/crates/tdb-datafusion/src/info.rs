//! Tables about arrays: `SELECT * FROM tdb_fragments('array')`.

mod enumerations;
mod fragments;
mod metadata;
mod schema;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tdb_array::{Array, TimeRange};

use crate::{Opener, error, time};

/// Kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Info {
    Enumerations,
    Fragments,
    Metadata,
    Schema,
}

impl Info {
    pub(crate) const ALL: [Self; 4] = [Self::Enumerations, Self::Fragments, Self::Metadata, Self::Schema];

    /// Name of the table function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Enumerations => "tdb_enumerations",
            Self::Fragments => "tdb_fragments",
            Self::Metadata => "tdb_metadata",
            Self::Schema => "tdb_schema",
        }
    }

    fn columns(self) -> SchemaRef {
        match self {
            Self::Enumerations => enumerations::columns(),
            Self::Fragments => fragments::columns(),
            Self::Metadata => metadata::columns(),
            Self::Schema => schema::columns(),
        }
    }

    fn rows(self, uri: &str, array: &Array) -> Result<RecordBatch> {
        match self {
            Self::Enumerations => enumerations::rows(uri, array),
            Self::Fragments => fragments::rows(uri, array),
            Self::Metadata => metadata::rows(uri, array),
            Self::Schema => schema::rows(array),
        }
    }
}

/// Table function with a URI as argument. The optional second argument is a time.
#[derive(Debug)]
pub(crate) struct InfoFunction {
    pub(crate) info: Info,
    pub(crate) opener: Opener,
}

impl TableFunctionImpl for InfoFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let name = self.info.name();
        let text = |expr: &Expr| match expr {
            Expr::Literal(value @ (ScalarValue::Utf8(Some(_)) | ScalarValue::Int64(Some(_))), _) => {
                Some(value.to_string())
            }
            Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        let given: Option<Vec<String>> = args.exprs().iter().map(text).collect();
        let usage = || error::plan(format!("write {name}('URI') or {name}('URI', 'TIME')"));
        let given = given.ok_or_else(usage)?;
        let (uri, time) = match &given[..] {
            [uri] => (uri, None),
            [uri, when] => {
                let moment =
                    time::moment(when).ok_or_else(|| error::plan(format!("{name}: {when:?} is not a valid time")))?;
                (uri, Some(TimeRange::until(moment.1)))
            }
            _ => return Err(usage()),
        };
        let (info, opener) = (self.info, self.opener.clone());
        Ok(Arc::new(InfoTable { info, uri: uri.clone(), time, opener, columns: info.columns() }))
    }
}

/// The table. Reads the array when scanned.
#[derive(Debug)]
struct InfoTable {
    info: Info,
    uri: String,
    time: Option<TimeRange>,
    opener: Opener,
    columns: SchemaRef,
}

#[async_trait]
impl TableProvider for InfoTable {
    fn schema(&self) -> SchemaRef {
        self.columns.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (info, uri, time, opener) = (self.info, self.uri.clone(), self.time, self.opener.clone());
        let rows = move || info.rows(&uri, &opener.array(&uri, time)?);
        let rows = error::joined(tokio::task::spawn_blocking(rows).await)?;
        let source = MemorySourceConfig::try_new_exec(&[vec![rows]], self.columns.clone(), projection.cloned())?;
        Ok(source)
    }
}

//! Tables about arrays: `SELECT * FROM tdb_fragments('array')`.

mod enumerations;
mod fragments;
mod metadata;
mod schema;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use tdb_array::{Array, TimeRange};

use crate::{Opener, error, time};

/// A kind of table about an array.
#[derive(Debug)]
pub(crate) struct Info {
    /// Name of the table function.
    pub(crate) name: &'static str,
    /// Name and type of each column. `true` for nullable columns.
    columns: &'static [(&'static str, DataType, bool)],
    /// Returns the values by column, for the array at a URI.
    rows: fn(&str, &Array) -> Result<Vec<ArrayRef>>,
}

/// All kinds of tables.
pub(crate) static TABLES: [Info; 4] = [
    Info { name: "tdb_enumerations", columns: enumerations::COLUMNS, rows: enumerations::rows },
    Info { name: "tdb_fragments", columns: fragments::COLUMNS, rows: fragments::rows },
    Info { name: "tdb_metadata", columns: metadata::COLUMNS, rows: metadata::rows },
    Info { name: "tdb_schema", columns: schema::COLUMNS, rows: schema::rows },
];

/// Table function with a URI as argument. The optional second argument is a time.
#[derive(Debug)]
pub(crate) struct InfoFunction {
    pub(crate) info: &'static Info,
    pub(crate) opener: Opener,
}

impl TableFunctionImpl for InfoFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let name = self.info.name;
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
        let fields =
            info.columns.iter().map(|(name, data_type, nullable)| Field::new(*name, data_type.clone(), *nullable));
        let columns = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Arc::new(InfoTable { info, uri: uri.clone(), time, opener, columns }))
    }
}

/// The table. Reads the array when scanned.
#[derive(Debug)]
struct InfoTable {
    info: &'static Info,
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
        let rows = error::blocking(move || (info.rows)(&uri, &opener.array(&uri, time)?)).await?;
        let rows = RecordBatch::try_new(self.columns.clone(), rows)?;
        let source = MemorySourceConfig::try_new_exec(&[vec![rows]], self.columns.clone(), projection.cloned())?;
        Ok(source)
    }
}

//! CREATE EXTERNAL TABLE … STORED AS TILEDB LOCATION '…'.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;
use tdb_array::{ArrayError, CreateOptions};

use crate::definition::Creation;
use crate::{Opener, TableOptions, TdbTable, error};

/// Opens the array at the location, or creates it from the columns of the statement.
#[derive(Debug)]
pub(crate) struct ArrayFactory {
    pub(crate) opener: Opener,
    pub(crate) options: TableOptions,
}

#[async_trait]
impl TableProviderFactory for ArrayFactory {
    async fn create(&self, _state: &dyn Session, command: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let [location] = &command.locations[..] else {
            return Err(error::plan("expected a single LOCATION for an array"));
        };
        if !command.table_partition_cols.is_empty() || !command.order_exprs.is_empty() || command.unbounded {
            return Err(error::plan(
                "an array does not support PARTITIONED BY, WITH ORDER or UNBOUNDED: the dimensions define the order",
            ));
        }
        let mut options = command.options.clone();
        let creation = Creation::of(&mut options);
        let table = self.options.clone().with_sql(&options)?;
        let (uri, opener) = (location.clone(), self.opener.clone());
        let columns = command.schema.as_arrow().clone();
        let made = move || {
            let storage = opener.storage(&uri)?;
            let failed = |error| error::of_array(&uri, error);
            let found = match opener.again(&uri, table.time) {
                Some(array) => Ok(array),
                None => opener.array_on(&uri, storage.clone(), table.time),
            };
            match found {
                Ok(array) => {
                    let opened = TdbTable::opened(&uri, array, &opener, table)?;
                    let known = opened.opened.schema.fields();
                    let fits = columns.fields().is_empty()
                        || columns.fields().iter().map(|field| field.name()).eq(known.iter().map(|field| field.name()));
                    if !fits || !creation.is_empty() {
                        return Err(error::plan(format!(
                            "the array at {uri:?} already exists: leave out the columns and the options of a new array"
                        )));
                    }
                    Ok(opened)
                }
                Err(ArrayError::NotFound { .. } | ArrayError::NotAnArray { .. }) if !columns.fields().is_empty() => {
                    let definition = creation.definition(&columns, None)?;
                    CreateOptions::new().create_on(&storage, &definition).map_err(failed)?;
                    TdbTable::open_blocking(&uri, &opener, table)
                }
                Err(error) => Err(failed(error)),
            }
        };
        Ok(error::blocking(made).await?)
    }
}

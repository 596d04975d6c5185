//! Catalogs that reopen arrays for each statement, and resolve URIs as tables.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::TableType;

use super::UrlTables;
use crate::{TdbTable, time};

/// A wrapper around a list of catalogs.
#[derive(Debug)]
pub(crate) struct FreshCatalogs {
    inner: Arc<dyn CatalogProviderList>,
    urls: Arc<UrlTables>,
}

#[derive(Debug)]
struct FreshCatalog {
    inner: Arc<dyn CatalogProvider>,
    urls: Arc<UrlTables>,
}

#[derive(Debug)]
struct FreshSchema {
    inner: Arc<dyn SchemaProvider>,
    urls: Arc<UrlTables>,
}

impl FreshCatalogs {
    pub(crate) fn new(inner: Arc<dyn CatalogProviderList>, urls: Arc<UrlTables>) -> Self {
        Self { inner, urls }
    }
}

impl CatalogProviderList for FreshCatalogs {
    fn register_catalog(&self, name: String, catalog: Arc<dyn CatalogProvider>) -> Option<Arc<dyn CatalogProvider>> {
        self.inner.register_catalog(name, catalog)
    }

    fn catalog_names(&self) -> Vec<String> {
        self.inner.catalog_names()
    }

    fn catalog(&self, name: &str) -> Option<Arc<dyn CatalogProvider>> {
        let inner = self.inner.catalog(name)?;
        Some(Arc::new(FreshCatalog { inner, urls: self.urls.clone() }))
    }
}

impl CatalogProvider for FreshCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.inner.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let inner = self.inner.schema(name)?;
        Some(Arc::new(FreshSchema { inner, urls: self.urls.clone() }))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.register_schema(name, schema)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.inner.deregister_schema(name, cascade)
    }
}

impl FreshSchema {
    /// Opens an array of the schema at the time after the `@` in its name: `calls@2024-05-01`.
    async fn at_a_time(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some((name, time)) = time::of_name(name) else { return Ok(None) };
        let Some(table) = self.inner.table(name).await? else { return Ok(None) };
        match table.downcast_ref::<TdbTable>() {
            Some(array) => Ok(Some(array.at(time).await?)),
            None => Ok(None),
        }
    }
}

#[async_trait]
impl SchemaProvider for FreshSchema {
    fn owner_name(&self) -> Option<&str> {
        self.inner.owner_name()
    }

    fn table_names(&self) -> Vec<String> {
        self.inner.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        match self.inner.table(name).await? {
            Some(table) => match table.downcast_ref::<TdbTable>() {
                Some(array) => Ok(Some(array.reopened().await?)),
                None => Ok(Some(table)),
            },
            None => match self.at_a_time(name).await? {
                Some(table) => Ok(Some(table)),
                None => self.urls.table(name).await,
            },
        }
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        self.inner.table_type(name).await
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.inner.deregister_table(name)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.inner.table_exist(name)
    }
}

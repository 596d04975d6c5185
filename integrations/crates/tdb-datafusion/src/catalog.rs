//! Catalogs of tables.

mod fresh;
mod group;
mod url;

pub(crate) use fresh::FreshCatalogs;
pub use group::TdbCatalog;
pub(crate) use url::UrlTables;

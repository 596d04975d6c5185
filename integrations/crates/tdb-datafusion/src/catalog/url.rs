//! Tables by URI: `FROM 's3://bucket/array'`, `FROM 'array@2024-05-01'`.

use std::sync::Arc;

use datafusion::catalog::{TableProvider, UrlTableFactory};
use datafusion::error::Result;
use tdb_array::{ArrayError, Group};
use tdb_storage::StorageError;

use crate::{Opener, TableOptions, TdbTable, error, files, time};

/// Opens tables by URI.
#[derive(Debug)]
pub(crate) struct UrlTables {
    opener: Opener,
    options: TableOptions,
    /// Opens files of other formats.
    others: Option<Arc<dyn UrlTableFactory>>,
}

/// Result of a lookup.
enum Found {
    Array(Arc<TdbTable>),
    Group(Vec<String>),
    Nothing,
}

impl UrlTables {
    pub(crate) fn new(opener: Opener, options: TableOptions, others: Option<Arc<dyn UrlTableFactory>>) -> Self {
        Self { opener, options, others }
    }

    /// Returns the table for a name. Returns `None` if the name refers to nothing.
    ///
    /// # Errors
    /// The name refers to a group, or to an array or file that cannot be opened.
    pub(crate) async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let found = match self.at(name, self.options.clone()).await? {
            Found::Nothing => match time::of_name(name) {
                Some((uri, time)) => self.at(uri, self.options.clone().between(time)).await?,
                None => Found::Nothing,
            },
            found => found,
        };
        match (found, &self.others) {
            (Found::Array(table), _) => Ok(Some(table)),
            (Found::Group(members), _) => {
                let members = if members.is_empty() { "nothing".to_owned() } else { members.join(", ") };
                Err(error::plan(format!("{name:?} is a group, not a table; its members are {members}")))
            }
            (Found::Nothing, Some(others)) => {
                let table = others.try_new(&files::to_read(name)?).await?;
                table.iter().try_for_each(|table| files::check(name, &table.schema()))?;
                Ok(table)
            }
            (Found::Nothing, None) => Ok(None),
        }
    }

    async fn at(&self, uri: &str, options: TableOptions) -> Result<Found> {
        let (uri, opener) = (uri.to_owned(), self.opener.clone());
        error::blocking(move || look(&uri, &opener, options)).await
    }
}

/// Looks up a URI.
fn look(uri: &str, opener: &Opener, options: TableOptions) -> Result<Found> {
    if let Some(array) = opener.again(uri, options.time) {
        return TdbTable::opened(uri, array, opener, options).map(Found::Array);
    }
    // Invalid URIs and unsupported schemes refer to nothing.
    let Ok(storage) = opener.storage(uri) else { return Ok(Found::Nothing) };
    match storage.list("") {
        Ok(_) => {}
        Err(StorageError::NotFound { .. } | StorageError::NotAFolder { .. } | StorageError::BadPath { .. }) => {
            return Ok(Found::Nothing);
        }
        Err(error) => return Err(error::of_array(uri, error.into())),
    }
    match opener.array_on(uri, storage, options.time) {
        Ok(array) => TdbTable::opened(uri, array, opener, options).map(Found::Array),
        Err(ArrayError::NotAnArray { .. }) => match opener.group(uri, options.time) {
            Ok(group) => Ok(Found::Group(members(&group))),
            Err(_) => Ok(Found::Nothing),
        },
        Err(error) => Err(error::of_array(uri, error)),
    }
}

/// Returns the names of the first members of a group.
fn members(group: &Group) -> Vec<String> {
    const SHOWN: usize = 10;
    let names = group.members().iter().map(|member| format!("{:?}", member.key()));
    let mut shown: Vec<String> = names.take(SHOWN).collect();
    if group.members().len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown
}

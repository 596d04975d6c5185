//! Groups as catalogs, with subgroups as schemas and arrays as tables.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{CatalogProvider, SchemaProvider, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::TableType;
use tdb_array::{Group, MemberKind};

use crate::{Opener, TableOptions, TdbTable, error};

/// Name of the schema for the arrays directly in the group.
const OWN: &str = "public";

/// A group as a catalog. Arrays in the group are tables of the schema `public`. Each subgroup is a
/// schema, named by its path (`outer/inner`). Members are looked up for each statement.
#[derive(Clone, Debug)]
pub struct TdbCatalog {
    place: Place,
}

/// A group or subgroup.
#[derive(Clone, Debug)]
struct Place {
    uri: String,
    /// Names of the subgroups from the group at `uri` to this group.
    path: Vec<String>,
    opener: Opener,
    options: TableOptions,
}

impl TdbCatalog {
    /// Opens the catalog of the group at a URI.
    ///
    /// # Errors
    /// The group does not exist or cannot be opened.
    pub async fn group(uri: &str, opener: &Opener, options: TableOptions) -> Result<Arc<Self>> {
        let place = Place { uri: uri.to_owned(), path: Vec::new(), opener: opener.clone(), options };
        let known = place.clone();
        error::blocking(move || known.open().map(drop)).await?;
        Ok(Arc::new(Self { place }))
    }
}

impl Place {
    /// Opens the current state of the group. Blocks.
    fn open(&self) -> Result<Group> {
        let failed = |error| error::of_array(&self.uri, error);
        let mut group = self.opener.group(&self.uri, self.options.time)?;
        for name in &self.path {
            let member = group.member(name).filter(|member| member.kind == MemberKind::Group);
            let Some(member) = member.cloned() else {
                return Err(error::plan(format!("group {:?} no longer has a group {name:?}", self.uri)));
            };
            group = group.open_member(&member).map_err(failed)?;
        }
        Ok(group)
    }

    /// Collects the paths of subgroups, up to `depth` levels.
    fn groups(&self, group: &Group, depth: usize, found: &mut Vec<Vec<String>>) {
        for member in group.members().iter().filter(|member| member.kind == MemberKind::Group) {
            let path: Vec<String> = self.path.iter().cloned().chain([member.key().to_owned()]).collect();
            found.push(path.clone());
            // Skips unreadable groups here. Queries of their tables report the error.
            if depth > 0
                && let Ok(inner) = group.open_member::<Group>(member)
            {
                Self { path, ..self.clone() }.groups(&inner, depth - 1, found);
            }
        }
    }

    /// Opens the table of a member array. Blocks.
    fn table(&self, name: &str) -> Result<Option<Arc<TdbTable>>> {
        let group = self.open()?;
        let Some(member) = group.member(name).filter(|member| member.kind == MemberKind::Array) else {
            return Ok(None);
        };
        let storage = group.member_storage(member).map_err(|error| error::of_array(&self.uri, error))?;
        let uri = storage.uri("").unwrap_or_else(|| storage.describe(""));
        let uri = with_settings(uri, &self.uri);
        TdbTable::open_blocking(&uri, &self.opener, self.options.clone()).map(Some)
    }
}

/// Appends the query parameters of the group's URI (from the last `?`) to a member's URI. The
/// member's URI may contain further `?`.
fn with_settings(uri: String, group: &str) -> String {
    if uri.starts_with("file://") || !uri.contains("://") {
        return uri;
    }
    match group.rfind('?') {
        Some(settings) => uri + &group[settings..],
        None if uri.contains('?') => uri + "?",
        None => uri,
    }
}

/// Maximum depth of listed subgroups.
const DEEPEST: usize = 8;

impl CatalogProvider for TdbCatalog {
    fn schema_names(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Ok(group) = self.place.open() {
            self.place.groups(&group, DEEPEST, &mut found);
        }
        [OWN.to_owned()].into_iter().chain(found.iter().map(|path| path.join("/"))).collect()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        if name == OWN {
            return Some(Arc::new(GroupSchema { place: self.place.clone() }));
        }
        let path = name.split('/').map(str::to_owned).collect();
        let place = Place { path, ..self.place.clone() };
        place.open().ok()?;
        Some(Arc::new(GroupSchema { place }))
    }
}

/// The arrays of a group.
#[derive(Debug)]
struct GroupSchema {
    place: Place,
}

#[async_trait]
impl SchemaProvider for GroupSchema {
    fn table_names(&self) -> Vec<String> {
        let Ok(group) = self.place.open() else { return Vec::new() };
        let arrays = group.members().iter().filter(|member| member.kind == MemberKind::Array);
        arrays.map(|member| member.key().to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let (place, name) = (self.place.clone(), name.to_owned());
        let table = error::blocking(move || place.table(&name)).await?;
        Ok(table.map(|table| table as Arc<dyn TableProvider>))
    }

    /// Does not open the array. Unreadable arrays are also listed.
    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        let (place, name) = (self.place.clone(), name.to_owned());
        let found = move || {
            let group = place.open()?;
            let is_array = group.member(&name).is_some_and(|member| member.kind == MemberKind::Array);
            Ok(is_array.then_some(TableType::Base))
        };
        error::blocking(found).await
    }

    fn table_exist(&self, name: &str) -> bool {
        self.table_names().iter().any(|known| known == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_inherit_query_parameters_of_the_group() {
        let of = |uri: &str, group: &str| with_settings(uri.to_owned(), group);
        assert_eq!(of("s3://b/g/a", "s3://b/g?endpoint=e"), "s3://b/g/a?endpoint=e");
        assert_eq!(of("s3://b/g/a?b", "s3://b/g"), "s3://b/g/a?b?");
        assert_eq!(of("s3://b/g/a", "s3://b/g"), "s3://b/g/a");
        assert_eq!(of("file:///g?h/a?b", "/g?h"), "file:///g?h/a?b");
        assert_eq!(of("g?h/a", "g?h"), "g?h/a");
    }
}

//! Paths of files in other formats.
//!
//! DataFusion (55.2) decodes `%41` in URIs, cuts names at `#` and `?`, and treats `*`, `?` and `[`
//! in paths as patterns, even for writes. Here, names are literal. A name is a pattern only if no
//! such file exists.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::dml::CopyTo;
use datafusion::logical_expr::{CreateExternalTable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use url::Url;

use crate::error;

/// Characters that make a path a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// Converts a name or pattern to the form that DataFusion needs for reading.
///
/// # Errors
/// The current folder does not exist, the path is not UTF-8, or a pattern is inside of a folder
/// whose name contains pattern characters.
pub(crate) fn to_read(name: &str) -> Result<String> {
    let Some(path) = local(name)? else { return Ok(name.to_owned()) };
    if !name.contains(PATTERN) || path.symlink_metadata().is_ok() {
        return exact(name, &path);
    }
    // Existing folders are taken literally.
    let folder = path.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    let text = path.to_str().filter(|_| folder.and_then(Path::to_str).is_some_and(|folder| !folder.contains(PATTERN)));
    let text = text.ok_or_else(|| {
        error::plan(format!("{name:?}: a pattern cannot be within a folder whose name has *, ? or ["))
    })?;
    Ok(if name.ends_with('/') && !text.ends_with('/') { format!("{text}/") } else { text.to_owned() })
}

/// Converts a name to the form that DataFusion needs for writing.
fn to_write(name: &str) -> Result<String> {
    local(name)?.map_or_else(|| Ok(name.to_owned()), |path| exact(name, &path))
}

/// Returns the absolute path of a name. Returns `None` for URIs of other schemes.
fn local(name: &str) -> Result<Option<PathBuf>> {
    let path = name.strip_prefix("file://").filter(|path| path.starts_with('/')).unwrap_or(name);
    let is_scheme = |scheme: &str| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match path.split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) => Ok(None),
        _ => Ok(Some(std::path::absolute(path)?)),
    }
}

/// Returns a form of the path that DataFusion reads literally: a URI if the path contains pattern
/// characters. Folders end with a slash, even if only `name` has one.
fn exact(name: &str, path: &Path) -> Result<String> {
    let failed = || error::plan(format!("{name:?} is not a file path in UTF-8"));
    let is_folder = name.ends_with('/') || path.is_dir();
    let mut text = path.to_str().ok_or_else(failed)?.to_owned();
    if text.contains(PATTERN) {
        let uri = if is_folder { Url::from_directory_path(path) } else { Url::from_file_path(path) };
        return Ok(uri.map_err(|()| failed())?.into());
    }
    if is_folder && !text.ends_with('/') {
        text.push('/');
    }
    Ok(text)
}

/// Rewrites the target paths of COPY to literal ones, except for arrays.
#[derive(Debug)]
pub(crate) struct ExactTargets;

impl AnalyzerRule for ExactTargets {
    fn name(&self) -> &'static str {
        "exact_targets"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let exactly = |plan: LogicalPlan| match plan {
            LogicalPlan::Copy(copy) if copy.file_type.get_ext() != "tiledb" => {
                let output_url = to_write(&copy.output_url)?;
                Ok(Transformed::yes(LogicalPlan::Copy(CopyTo { output_url, ..copy })))
            }
            other => Ok(Transformed::no(other)),
        };
        Ok(plan.transform_down(exactly)?.data)
    }
}

/// Creates tables of files with literal paths.
#[derive(Debug)]
pub(crate) struct ExactFiles(pub(crate) Arc<dyn TableProviderFactory>);

#[async_trait]
impl TableProviderFactory for ExactFiles {
    async fn create(&self, state: &dyn Session, command: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        let locations = command.locations.iter().map(|name| to_read(name)).collect::<Result<Vec<_>>>()?;
        let ending = |name: &String| Path::new(name).extension().map(ToOwned::to_owned);
        if let Some((name, _)) =
            command.locations.iter().zip(&locations).find(|(name, exact)| ending(name) != ending(exact))
        {
            return Err(error::plan(format!(
                "{name:?}: DataFusion finds no files with this extension; rename the file"
            )));
        }
        let table = self.0.create(state, &CreateExternalTable { locations, ..command.clone() }).await?;
        check(&command.locations.join(", "), &table.schema())?;
        Ok(table)
    }
}

/// Rejects schemas that DataFusion cannot read.
///
/// # Errors
/// A column is a dictionary of booleans, for which Arrow has no casts.
pub(crate) fn check(name: &str, schema: &SchemaRef) -> Result<()> {
    match schema.fields().iter().find(|field| has_dictionary_of_booleans(field)) {
        None => Ok(()),
        Some(field) => Err(error::plan(format!(
            "{name:?}: column {:?} has dictionaries of booleans, which DataFusion does not support; write the file with plain booleans",
            field.name()
        ))),
    }
}

fn has_dictionary_of_booleans(field: &Field) -> bool {
    let found = |field: &Field| has_dictionary_of_booleans(field);
    match field.data_type() {
        DataType::Dictionary(_, values) => **values == DataType::Boolean,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => found(item),
        DataType::Struct(fields) => fields.iter().any(|field| found(field)),
        _ => false,
    }
}

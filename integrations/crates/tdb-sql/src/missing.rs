//! Suggestions for missing tables.

use datafusion::error::DataFusionError;
use tdb_cli::{Context, Exit, Failure, nearest};

use crate::error::{Place, failure, failure_at};
use crate::prompt::quoted;
use crate::run::Runner;

impl Runner<'_> {
    /// Converts a planning error. For a missing table, suggests similar names.
    pub(crate) async fn explained(&self, error: &DataFusionError, place: &Place<'_>) -> Failure {
        let text = error.strip_backtrace();
        let Some(table) = between(&text, "table '", "' not found") else { return self.failed(error, place) };
        let name = self.as_written(&table);
        let failed = |exit, message: String| failure_at(error, place, (exit, &message), &name);
        let known = self.tables().await;
        if let Some(near) = nearest(&name, known.iter().map(String::as_str)) {
            return failed(Exit::Usage, format!("no table is named {name:?}"))
                .with_hint(format!("did you mean {}?", quoted(near)));
        }
        // The time is not part of the path.
        let path = name
            .rsplit_once('@')
            .filter(|(_, time)| tdb_cli::parse_time(time).is_ok())
            .map_or(&*name, |(path, _)| path);
        match self.context.why_no_array(path) {
            Some(why) if why.hint().is_some_and(|hint| hint.starts_with("did you mean")) => {
                failed(Exit::Unavailable, format!("no table and no array is named {path:?}")).with_hint(why.hint().unwrap_or_default())
            }
            Some(why) if path.contains('/') => {
                let failed = failed(why.exit(), format!("no array at {path:?}: {}", why.message()));
                match why.hint() {
                    Some(hint) => failed.with_hint(hint),
                    None => failed,
                }
            }
            _ => failed(Exit::Usage, format!("no table is named {name:?}, and no array is at that path"))
                .with_hint("run SHOW TABLES for a list of tables; write names with capitals in double quotes, and paths in single quotes"),
        }
    }

    /// Converts an error after planning.
    pub(crate) fn failed(&self, error: &DataFusionError, place: &Place<'_>) -> Failure {
        let store = between(&error.strip_backtrace(), "No suitable object store found for ", " ");
        let at_store = store.and_then(|store| at_store(self.context, store.trim_end_matches('.'), place));
        at_store.unwrap_or_else(|| failure(error, place))
    }

    /// Removes the default catalog and schema from a table name.
    fn as_written(&self, table: &str) -> String {
        let state = self.session.state();
        let catalog = &state.config_options().catalog;
        let own = format!("{}.{}.", catalog.default_catalog, catalog.default_schema);
        let in_catalog = format!("{}.", catalog.default_catalog);
        let rest = table.strip_prefix(&own).or_else(|| table.strip_prefix(&in_catalog));
        rest.unwrap_or(table).to_owned()
    }

    /// Lists the tables: by name in the schema `public`, elsewhere with the schema name.
    async fn tables(&self) -> Vec<String> {
        let query = "SELECT CASE WHEN table_schema = 'public' THEN table_name ELSE table_schema || '.' || table_name END \
                     FROM information_schema.tables WHERE table_schema <> 'information_schema'";
        self.texts(query).await
    }
}

/// Creates the failure for a URI without a usable store.
fn at_store(context: &Context, store: &str, place: &Place<'_>) -> Option<Failure> {
    let (scheme, _) = store.split_once("://")?;
    let statement = &place.text[place.statement.clone()];
    let start = statement.find(store.trim_end_matches('/'))?;
    let uri = statement[start..].split(['\'', '"', '`']).next()?;
    let bytes = place.statement.start + start..place.statement.start + start + uri.len();
    let known = context.schemes();
    if known.iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        let why = context.why_no_array(uri)?;
        let failed = Failure::new(why.exit(), format!("no array at {uri:?}: {}", why.message()));
        return Some(failed.in_text(place.text, bytes));
    }
    let failed = Failure::new(Exit::Unsupported, format!("{scheme}:// is not a known scheme"));
    let hint = match nearest(scheme, known.iter().copied()) {
        Some(near) => format!("did you mean {near}://?"),
        None => format!(
            "use a local path, or one of {}",
            known.iter().map(|known| format!("{known}://")).collect::<Vec<_>>().join(", ")
        ),
    };
    Some(failed.with_hint(hint).in_text(place.text, bytes))
}

/// Returns the text between two markers.
fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after).map_or(rest, |(found, _)| found).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_messages() {
        let found = |text: &str| between(text, "table '", "' not found");
        assert_eq!(found("Error: table 'a.b.c d' not found").as_deref(), Some("a.b.c d"));
        assert_eq!(found("table of nothing"), None);
    }
}

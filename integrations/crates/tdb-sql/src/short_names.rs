//! Short aliases for tables named by a path. Column names without an alias contain the table name.

use std::collections::HashMap;
use std::ops::ControlFlow;

use datafusion::sql::parser::{CopyToSource, Statement};
use datafusion::sql::sqlparser::ast::{
    self, Ident, ObjectName, ObjectNamePart, Query, TableAlias, TableFactor, VisitMut, VisitorMut,
};

/// Adds the last part of the path as an alias to each table that is named by a path and has no
/// alias. Skips tables with the same last part, and paths that occur elsewhere in the statement.
pub(crate) fn shorten(statement: &mut Statement) {
    let text = statement.to_string();
    let mut tables = Tables::default();
    visit(statement, &mut tables);
    let aliases = tables.aliases(&text);
    visit(statement, &mut Aliases(aliases));
}

fn visit(statement: &mut Statement, visitor: &mut impl VisitorMut<Break = ()>) {
    let _: ControlFlow<()> = match statement {
        Statement::Statement(statement) => match statement.as_mut() {
            // The table in these statements is the target of the change.
            ast::Statement::Delete(_) | ast::Statement::Update(_) | ast::Statement::Merge(_) => {
                ControlFlow::Continue(())
            }
            other => other.visit(visitor),
        },
        Statement::Explain(explain) => {
            visit(&mut explain.statement, visitor);
            ControlFlow::Continue(())
        }
        Statement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => query.visit(visitor),
            CopyToSource::Relation(_) => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    };
}

/// Returns the path of a table without an alias.
fn path(table: &TableFactor) -> Option<&str> {
    match table {
        TableFactor::Table { name: ObjectName(parts), alias: None, args: None, .. } => match &parts[..] {
            [ObjectNamePart::Identifier(Ident { value, quote_style: Some(_), .. })] if value.contains('/') => {
                Some(value)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns the last part of a path.
fn last_part(path: &str) -> &str {
    let path = path.split('?').next().unwrap_or(path).trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Tables of a statement: the number of uses of each path, and of each name.
#[derive(Default)]
struct Tables {
    paths: HashMap<String, usize>,
    names: HashMap<String, usize>,
}

impl Tables {
    fn name(&mut self, name: &str) {
        *self.names.entry(name.to_lowercase()).or_default() += 1;
    }

    /// Returns the aliases by path.
    fn aliases(self, text: &str) -> HashMap<String, String> {
        let short = |(path, count): (String, usize)| {
            let name = last_part(&path).to_owned();
            let is_alone = count == 1 && self.names.get(&name.to_lowercase()) == Some(&1);
            (is_alone && !name.is_empty() && text.matches(&path).count() == 1).then_some((path, name))
        };
        self.paths.into_iter().filter_map(short).collect()
    }
}

impl VisitorMut for Tables {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        if let Some(path) = path(table) {
            let name = last_part(path).to_owned();
            *self.paths.entry(path.to_owned()).or_default() += 1;
            self.name(&name);
            return ControlFlow::Continue(());
        }
        match table {
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::TableFunction { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. } => self.name(&alias.name.value.clone()),
            TableFactor::Table { name, .. } => {
                let last = name.0.last().and_then(ObjectNamePart::as_ident).map(|last| last.value.clone());
                self.name(&last.unwrap_or_default());
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let names: Vec<String> =
            query.with.iter().flat_map(|with| &with.cte_tables).map(|table| table.alias.name.value.clone()).collect();
        names.iter().for_each(|name| self.name(name));
        ControlFlow::Continue(())
    }
}

/// Aliases by path.
struct Aliases(HashMap<String, String>);

impl VisitorMut for Aliases {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        let name = path(table).and_then(|path| self.0.get(path)).cloned();
        if let (Some(name), TableFactor::Table { alias, .. }) = (name, table) {
            let name = Ident::with_quote('"', name);
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;

    fn shortened(sql: &str) -> String {
        let context = SessionContext::new();
        let dialect = context.state().config().options().sql_parser.dialect;
        let mut statement = context.state().sql_to_statement(sql, &dialect).unwrap();
        shorten(&mut statement);
        statement.to_string()
    }

    #[test]
    fn paths_get_their_last_part_as_alias() {
        assert_eq!(shortened("SELECT min(x) FROM 'a/b/var'"), "SELECT min(x) FROM 'a/b/var' AS \"var\"");
        assert_eq!(
            shortened("EXPLAIN SELECT min(x) FROM 's3://b/v.tdb/?profile=p'"),
            "EXPLAIN SELECT min(x) FROM 's3://b/v.tdb/?profile=p' AS \"v.tdb\""
        );
        assert_eq!(
            shortened("SELECT 1 WHERE 2 IN (SELECT x FROM 'a/b')"),
            "SELECT 1 WHERE 2 IN (SELECT x FROM 'a/b' AS \"b\")"
        );
    }

    #[test]
    fn ambiguous_aliases_are_skipped() {
        for same in [
            "SELECT * FROM 'a/v', 'b/v'",
            "SELECT * FROM 'a/v' JOIN w AS v ON true",
            "SELECT * FROM 'a/v' JOIN v ON true",
            "WITH v AS (SELECT 1) SELECT * FROM v, 'a/v'",
            "SELECT \"a/v\".x FROM 'a/v'",
            "SELECT x FROM 'a/v' AS t",
            "SELECT x FROM v",
            "DELETE FROM 'a/v' WHERE x = 1",
        ] {
            assert_eq!(shortened(same), same);
        }
    }
}

//! Checks of statements before planning.

mod clauses;
mod length;

use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;

pub(crate) use clauses::PlainRelations;

/// Parses a statement for `SessionState::statement_to_plan`.
///
/// Unlike `SessionContext::sql`, rejects clauses that DataFusion 55.2 ignores, and chains of
/// operators that are long enough to overflow the stack.
///
/// # Errors
/// The text is not a single statement, or the statement is rejected.
pub fn parse(state: &SessionState, sql: &str) -> Result<Statement> {
    let dialect = state.config_options().sql_parser.dialect;
    length::check(sql, dialect)?;
    let statement = state.sql_to_statement(sql, &dialect)?;
    clauses::check(&statement, state)?;
    Ok(statement)
}

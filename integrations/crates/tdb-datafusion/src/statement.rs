//! Statements before DataFusion plans them.

mod clauses;
mod length;

use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;

pub(crate) use clauses::PlainRelations;

/// The statement that a text is, for `SessionState::statement_to_plan`.
///
/// Unlike `SessionContext::sql` it refuses clauses that DataFusion 55.2 parses and passes over, and chains of operators that are too long
/// for the stack.
///
/// # Errors
/// It is no statement, or more than one; or it is refused.
pub fn parse(state: &SessionState, sql: &str) -> Result<Statement> {
    let dialect = state.config_options().sql_parser.dialect;
    length::check(sql, dialect)?;
    let statement = state.sql_to_statement(sql, &dialect)?;
    clauses::check(&statement, state)?;
    Ok(statement)
}

//! Errors of arrays in the terms of SQL.

use datafusion::error::DataFusionError;
use tdb_array::{ArrayError, ErrorCategory};

/// What went wrong with the array at `uri`, as DataFusion tells it: with the [`ArrayError`] inside, of which
/// [`category`](ArrayError::category) says what to do.
pub(crate) fn of_array(uri: &str, error: ArrayError) -> DataFusionError {
    let hint = match error.category() {
        ErrorCategory::Key => "; its key comes of the function that the opener was given (Opener::with_keys)",
        _ => "",
    };
    let table = format!("table {uri:?}{hint}");
    DataFusionError::External(Box::new(error)).context(table)
}

/// The same of an array that is told in Arrow's terms.
pub(crate) fn of_arrow(uri: &str, error: tdb_arrow::Error) -> DataFusionError {
    match error {
        tdb_arrow::Error::Array(error) => of_array(uri, error),
        error => DataFusionError::External(Box::new(error)).context(format!("table {uri:?}")),
    }
}

/// A statement that asks for what an array can't do.
pub(crate) fn plan(message: impl Into<String>) -> DataFusionError {
    DataFusionError::Plan(message.into())
}

/// What a task that was started for a blocking call has come to.
pub(crate) fn joined<T>(
    result: Result<datafusion::error::Result<T>, tokio::task::JoinError>,
) -> datafusion::error::Result<T> {
    result.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?
}

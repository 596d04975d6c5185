//! Errors of arrays as DataFusion errors.

use datafusion::error::{DataFusionError, Result};
use tdb_array::{ArrayError, ErrorCategory};

/// Wraps an error of the array at `uri`. The [`ArrayError`] stays accessible as the source, with
/// its [`category`](ArrayError::category).
pub(crate) fn of_array(uri: &str, error: ArrayError) -> DataFusionError {
    let hint = match error.category() {
        ErrorCategory::Key => "; the key comes from the function of the opener (Opener::with_keys)",
        _ => "",
    };
    let table = format!("table {uri:?}{hint}");
    DataFusionError::External(Box::new(error)).context(table)
}

/// Wraps an error of a conversion to or from Arrow.
pub(crate) fn of_arrow(uri: &str, error: tdb_arrow::Error) -> DataFusionError {
    match error {
        tdb_arrow::Error::Array(error) => of_array(uri, error),
        error => DataFusionError::External(Box::new(error)).context(format!("table {uri:?}")),
    }
}

/// Creates an error for an unsupported statement.
pub(crate) fn plan(message: impl Into<String>) -> DataFusionError {
    DataFusionError::Plan(message.into())
}

/// Runs a function that blocks, on a thread for such functions.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?
}

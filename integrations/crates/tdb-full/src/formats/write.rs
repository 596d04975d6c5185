//! Batches of a query, and errors of exports.

use tdb_arrow::arrow_array::RecordBatch;
use tdb_arrow::arrow_schema::ArrowError;
use tdb_arrow::{Error, Problem, Reader};
use tdb_cli::{Exit, Failure, Result};

/// Writes all batches. Returns the number of rows.
pub(super) fn each(reader: Reader, mut write: impl FnMut(&RecordBatch) -> Result<()>) -> Result<u64> {
    let mut rows = 0;
    for batch in reader {
        let batch = batch.map_err(of_reader)?;
        write(&batch)?;
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

fn of_reader(error: ArrowError) -> Failure {
    match error {
        ArrowError::ExternalError(error) => match error.downcast::<Error>() {
            Ok(error) => of_arrow(*error),
            Err(error) => unwritten(error),
        },
        error => unwritten(error),
    }
}

/// Converts an error of the array or of the conversion to Arrow.
pub(super) fn of_arrow(error: Error) -> Failure {
    match error {
        Error::Array(error) => error.into(),
        error => {
            let hint = match &error {
                Error::Cell { problem: Problem::NotUtf8, .. }
                | Error::Enumeration { problem: Problem::NotUtf8, .. } => {
                    "pass --option strings=binary to write strings as bytes"
                }
                Error::Cell { problem: Problem::OutOfRange { .. }, .. }
                | Error::Enumeration { problem: Problem::OutOfRange { .. }, .. } => {
                    "export .csv or .jsonl, which support all dates and times, or leave the field out with --select"
                }
                _ => "see docs/guides/arrow.md for the supported types",
            };
            Failure::new(Exit::Unsupported, error).with_hint(hint)
        }
    }
}

/// Creates the failure for a write error.
pub(super) fn unwritten(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Unavailable, format!("cannot write the file: {error}"))
}

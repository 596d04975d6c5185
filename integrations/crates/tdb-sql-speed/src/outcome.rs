//! Results of the program.

/// Result of a step. Errors are for human readers.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

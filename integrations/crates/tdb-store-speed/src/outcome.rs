//! Results of tasks.

/// Result of a task. Errors are for human readers.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

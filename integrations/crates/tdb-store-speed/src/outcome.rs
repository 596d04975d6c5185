//! What tasks end with.

/// The result of a task; an error is for people to read.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

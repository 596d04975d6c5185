//! What all of it ends with.

/// The result of a step; an error is for people to read.
pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

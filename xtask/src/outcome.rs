//! The result of tasks.

use std::error::Error;

/// The result of a task, with any error.
pub(crate) type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

//! How tasks end.

use std::error::Error;

/// What a task gives, and any failure of it.
pub(crate) type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

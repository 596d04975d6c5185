#![doc = include_str!("../README.md")]

mod error;

pub use error::{MaintainError, Result};

// Types of these crates stand in this one's signatures; its users needn't name them in a manifest.
pub use tdb_array;
pub use tdb_types;

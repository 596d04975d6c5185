//! Objects of JSON, which metadata and attributes of Zarr are.

use serde_json::{Map, Value};

/// What is in the attributes of Zarr.
pub(crate) type Attributes = Map<String, Value>;

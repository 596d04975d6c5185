//! What rows are written into.

use datafusion::arrow::datatypes::SchemaRef;
use tdb_array::Array;

use crate::create::Enumerations;

/// Writes rows into an array: into a dense one in [row-major order](super::row_major).
#[derive(Debug)]
pub(crate) struct InsertSink {
    pub(crate) array: Array,
    pub(crate) uri: String,
    pub(crate) schema: SchemaRef,
    /// What gives the enumerations of a new array their values.
    pub(crate) new: Option<Enumerations>,
}

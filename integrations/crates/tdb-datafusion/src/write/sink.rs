//! What rows are written into.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::Result;
use tdb_array::Array;

use crate::create::Enumerations;
use crate::error;

/// Writes rows into an array: into a dense one in [row-major order](super::row_major).
#[derive(Debug)]
pub(crate) struct InsertSink {
    pub(crate) array: Array,
    pub(crate) uri: String,
    pub(crate) schema: SchemaRef,
    /// The same columns, all of which may be null: DataFusion's own check says of a null only the place of its column.
    accepted: SchemaRef,
    /// What gives the enumerations of a new array their values.
    pub(crate) new: Option<Enumerations>,
}

impl InsertSink {
    /// Writes rows of these columns.
    pub(crate) fn new(array: Array, uri: String, schema: SchemaRef, new: Option<Enumerations>) -> Self {
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let accepted = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { array, uri, schema, accepted, new }
    }

    /// The columns that rows may have.
    pub(super) fn accepted(&self) -> &SchemaRef {
        &self.accepted
    }

    /// Refuses rows that have no value for a column which wants one.
    pub(super) fn check_nulls(&self, rows: &RecordBatch) -> Result<()> {
        let columns = self.schema.fields().iter().zip(rows.columns());
        let lacking = columns.filter(|(field, column)| !field.is_nullable() && column.logical_null_count() > 0);
        match lacking.map(|(field, _)| field.name()).next() {
            None => Ok(()),
            Some(name) => {
                let what = "is NOT NULL, and a row has no value for it; give it one, or leave the row out";
                Err(error::plan(format!("INSERT INTO {:?}: column {name:?} {what}; nothing was written", self.uri)))
            }
        }
    }
}

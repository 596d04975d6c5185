//! The sink of rows.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, RecordBatch};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::error::Result;
use tdb_array::Array;
use tdb_array::tdb_schema::FieldType;

use crate::enumerations::Enumerations;
use crate::error;

/// Writes rows into an array. Dense arrays require [row-major order](super::row_major).
#[derive(Debug)]
pub(crate) struct InsertSink {
    pub(crate) array: Array,
    pub(crate) uri: String,
    pub(crate) schema: SchemaRef,
    /// The same columns, but nullable. DataFusion's own null check reports only the index of the
    /// column.
    accepted: SchemaRef,
    /// Extends the enumerations of a new array.
    pub(crate) new: Option<Enumerations>,
}

impl InsertSink {
    /// Creates a sink for rows with these columns.
    pub(crate) fn new(array: Array, uri: String, schema: SchemaRef, new: Option<Enumerations>) -> Self {
        let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let accepted = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Self { array, uri, schema, accepted, new }
    }

    /// Returns the accepted columns.
    pub(super) fn accepted(&self) -> &SchemaRef {
        &self.accepted
    }

    /// Rejects rows with a null in a NOT NULL column.
    pub(super) fn check_nulls(&self, rows: &RecordBatch) -> Result<()> {
        let columns = self.schema.fields().iter().zip(rows.columns());
        let mut lacking = columns.filter(|(field, column)| self.wants_value(field) && column.logical_null_count() > 0);
        match lacking.next().map(|(field, _)| field.name()) {
            None => Ok(()),
            Some(name) => {
                let what = "is NOT NULL, but a row has no value for it; add a value, or leave the row out";
                Err(error::plan(format!("INSERT INTO {:?}: column {name:?} {what}; nothing was written", self.uri)))
            }
        }
    }

    /// Returns `true` if a column is NOT NULL. Columns of dates or times always read as nullable,
    /// because "no time" is null. In a new array, nullability comes from the source.
    fn wants_value(&self, field: &Field) -> bool {
        if field.is_nullable() && self.new.is_some() {
            return false;
        }
        let schema = self.array.schema();
        let cells = schema.field(field.name()).and_then(|field| schema.field_type(field));
        let is_time = |cells: &FieldType| cells.datatype.is_datetime() || cells.datatype.is_time();
        !field.is_nullable() || cells.is_some_and(|cells| !cells.nullable && is_time(&cells))
    }
}

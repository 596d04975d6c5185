//! Replacement of dictionaries that Parquet files cannot contain.
//!
//! For dictionaries of fixed-size binary, the Parquet writer stores size statistics. The format
//! only allows these for variable sizes, and readers reject the files. These columns become plain
//! values, and the metadata name the enumeration. The Parquet reader returns plain values for
//! dictionaries of booleans, half floats and decimals, too.

use std::sync::Arc;

use arrow_select::take::take;
use tdb_arrow::arrow_array::cast::AsArray;
use tdb_arrow::arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use tdb_arrow::arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

/// Replaces these dictionaries in a schema.
pub(super) fn schema(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Converts a batch to the schema.
pub(super) fn batch(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, column)| values(field, column));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect::<Result<_, _>>()?, &options)
}

fn field(field: &FieldRef) -> FieldRef {
    match field.data_type() {
        DataType::Dictionary(_, values) if !has_dictionaries(values) => {
            let plain = Field::new(field.name(), (**values).clone(), field.is_nullable());
            Arc::new(plain.with_metadata(field.metadata().clone()))
        }
        _ => Arc::clone(field),
    }
}

fn has_dictionaries(values: &DataType) -> bool {
    let is_plain = matches!(values, DataType::FixedSizeBinary(_) | DataType::Boolean | DataType::Float16);
    !is_plain && !values.is_decimal()
}

fn values(field: &Field, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.as_any_dictionary_opt() {
        Some(dictionary) if field.data_type() != column.data_type() => {
            take(dictionary.values(), dictionary.keys(), None)
        }
        _ => Ok(Arc::clone(column)),
    }
}

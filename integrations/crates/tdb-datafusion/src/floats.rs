//! Canonical NaNs.
//!
//! DataFusion and Arrow order and compare floats by their bits. A NaN with the sign bit is less
//! than all numbers, and NaNs with distinct bits differ.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::error::Result;

/// Replaces every NaN in the batch by the canonical NaN.
pub(crate) fn with_one_nan(batch: RecordBatch) -> Result<RecordBatch> {
    if !batch.columns().iter().any(|column| column.data_type().is_floating()) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(array_with_one_nan).collect();
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// Replaces every NaN in the array by the canonical NaN.
pub(crate) fn array_with_one_nan(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Float32 => {
            mapped::<Float32Type>(array, f32::NAN, |value| value.to_bits() != f32::NAN.to_bits() && value.is_nan())
        }
        DataType::Float64 => {
            mapped::<Float64Type>(array, f64::NAN, |value| value.to_bits() != f64::NAN.to_bits() && value.is_nan())
        }
        _ => array.clone(),
    }
}

fn mapped<T: ArrowPrimitiveType>(array: &ArrayRef, nan: T::Native, is_other: impl Fn(T::Native) -> bool) -> ArrayRef {
    let values = array.as_primitive::<T>();
    // Most arrays contain no such NaN, and need no copy.
    if !values.values().iter().any(|value| is_other(*value)) {
        return array.clone();
    }
    Arc::new(values.unary::<_, T>(|value| if is_other(value) { nan } else { value }))
}

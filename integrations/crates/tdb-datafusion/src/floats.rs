//! NaN in one form.
//!
//! DataFusion and Arrow order and compare floats by their bits: NaN with the sign bit set is less than all numbers, NaNs of distinct bits differ.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::error::Result;

/// The rows, in which all NaNs have the same bits.
pub(crate) fn with_one_nan(batch: RecordBatch) -> Result<RecordBatch> {
    if !batch.columns().iter().any(|column| column.data_type().is_floating()) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(array_with_one_nan).collect();
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// The values, in which all NaNs have the same bits.
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
    // Most arrays have none, and stay as they are.
    if !values.values().iter().any(|value| is_other(*value)) {
        return array.clone();
    }
    Arc::new(values.unary::<_, T>(|value| if is_other(value) { nan } else { value }))
}

//! Mapping of values to types with correct aggregates in DataFusion.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use datafusion::arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, UInt64Type,
};
use datafusion::common::internal_err;
use datafusion::error::{DataFusionError, Result};

use crate::floats::array_with_one_nan;

/// A mapping of values, and of results back to the original type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mapping {
    /// Maps 64-bit integers to 128 bits.
    Wide,
    /// Maps floats to integers in the order -inf, …, -0.0, 0.0, …, inf, NaN, whatever the bits of
    /// the NaN.
    Ordered,
    /// Maps every NaN to the canonical NaN.
    OneNan,
}

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

/// Type of sums.
const WIDE: DataType = DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0);

impl Mapping {
    /// Returns the mapped type. Returns `None` for types without a mapping.
    pub(super) fn data_type(self, of: &DataType) -> Option<DataType> {
        match (self, of) {
            (Self::Wide, DataType::Int64 | DataType::UInt64) => Some(WIDE),
            (Self::Ordered, DataType::Float16) => Some(DataType::Int16),
            (Self::Ordered, DataType::Float32) => Some(DataType::Int32),
            (Self::Ordered, DataType::Float64) => Some(DataType::Int64),
            _ => None,
        }
    }

    /// Maps values.
    pub(super) fn forward(self, values: &ArrayRef) -> Result<ArrayRef> {
        Ok(match (self, values.data_type()) {
            (Self::OneNan, _) => array_with_one_nan(values),
            (Self::Wide, DataType::Int64) => wide::<Int64Type>(values),
            (Self::Wide, DataType::UInt64) => wide::<UInt64Type>(values),
            (Self::Ordered, DataType::Float16) => mapped::<Float16Type, Int16Type>(values, |value| {
                ordered_16(if value.is_nan() { F16::NAN } else { value }.to_bits().cast_signed())
            }),
            (Self::Ordered, DataType::Float32) => mapped::<Float32Type, Int32Type>(values, |value| {
                ordered_32(if value.is_nan() { f32::NAN } else { value }.to_bits().cast_signed())
            }),
            (Self::Ordered, DataType::Float64) => mapped::<Float64Type, Int64Type>(values, |value| {
                ordered_64(if value.is_nan() { f64::NAN } else { value }.to_bits().cast_signed())
            }),
            (_, other) => return internal_err!("{other} is not mapped"),
        })
    }

    /// Maps results back to the type of the values.
    ///
    /// # Errors
    /// A sum overflows the type.
    pub(super) fn back(self, results: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        Ok(match (self, to) {
            (Self::OneNan, _) => results.clone(),
            (Self::Wide, DataType::Int64) => narrow::<Int64Type>(results)?,
            (Self::Wide, DataType::UInt64) => narrow::<UInt64Type>(results)?,
            (Self::Ordered, DataType::Float16) => {
                mapped::<Int16Type, Float16Type>(results, |key| F16::from_bits(ordered_16(key).cast_unsigned()))
            }
            (Self::Ordered, DataType::Float32) => {
                mapped::<Int32Type, Float32Type>(results, |key| f32::from_bits(ordered_32(key).cast_unsigned()))
            }
            (Self::Ordered, DataType::Float64) => {
                mapped::<Int64Type, Float64Type>(results, |key| f64::from_bits(ordered_64(key).cast_unsigned()))
            }
            (_, other) => return internal_err!("{other} is not mapped"),
        })
    }
}

/// Converts the bits of a float to a number in total order. The function is its own inverse.
macro_rules! ordered {
    ($($name:ident: $integer:ty;)*) => {
        $(fn $name(bits: $integer) -> $integer {
            let sign = bits >> (<$integer>::BITS - 1);
            bits ^ (sign & <$integer>::MAX)
        })*
    };
}
ordered! { ordered_16: i16; ordered_32: i32; ordered_64: i64; }

fn mapped<T: ArrowPrimitiveType, O: ArrowPrimitiveType>(
    values: &ArrayRef,
    map: impl Fn(T::Native) -> O::Native,
) -> ArrayRef {
    Arc::new(values.as_primitive::<T>().unary::<_, O>(map))
}

fn wide<T: ArrowPrimitiveType<Native: Into<i128>>>(values: &ArrayRef) -> ArrayRef {
    let values: PrimitiveArray<Decimal128Type> = values.as_primitive::<T>().unary(Into::into);
    Arc::new(values.with_data_type(WIDE))
}

fn narrow<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(sums: &ArrayRef) -> Result<ArrayRef> {
    let narrow = |sum: i128| {
        T::Native::try_from(sum).map_err(|_| {
            DataFusionError::Execution(format!(
                "sum overflows: {sum} exceeds {}; sum a DECIMAL or DOUBLE",
                T::DATA_TYPE
            ))
        })
    };
    Ok(Arc::new(sums.as_primitive::<Decimal128Type>().try_unary::<_, T, _>(narrow)?))
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Float64Array, Int64Array};

    use super::*;

    #[test]
    fn ordered_floats_survive_a_round_trip_with_nan_last() {
        let values = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, f64::MIN_POSITIVE, 1.5, f64::INFINITY, f64::NAN, -f64::NAN];
        let floats: ArrayRef = Arc::new(Float64Array::from(values.to_vec()));
        let keys = Mapping::Ordered.forward(&floats).unwrap();
        assert!(keys.as_primitive::<Int64Type>().values()[..8].is_sorted_by(|a, b| a < b));
        let back = Mapping::Ordered.back(&keys, &DataType::Float64).unwrap();
        let bits = |array: &ArrayRef| {
            array.as_primitive::<Float64Type>().values().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(bits(&back)[..8], bits(&floats)[..8]);
        assert_eq!(bits(&back)[8], f64::NAN.to_bits());
    }

    #[test]
    fn sums_that_exceed_the_type_are_errors() {
        let wide =
            Mapping::Wide.forward(&(Arc::new(Int64Array::from(vec![Some(i64::MAX), None])) as ArrayRef)).unwrap();
        assert_eq!(Mapping::Wide.back(&wide, &DataType::Int64).unwrap().as_primitive::<Int64Type>().value(0), i64::MAX);
        let more: PrimitiveArray<Decimal128Type> = wide.as_primitive::<Decimal128Type>().unary(|sum| sum + 1);
        let error = Mapping::Wide.back(&(Arc::new(more) as ArrayRef), &DataType::Int64).unwrap_err();
        assert!(error.to_string().contains("9223372036854775808 exceeds Int64"), "{error}");
    }
}

//! Lossless conversion of numbers of another width than the field's.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};
use arrow_schema::DataType;
use tdb_array::tdb_types::Datatype;

use super::target::Target;
use crate::{Problem, Result};

impl Target<'_> {
    /// Converts the values to the field's datatype. Returns `None` if either side is not numeric.
    /// Null becomes zero.
    pub(super) fn of_other_width(
        &self,
        array: &dyn Array,
        cell_of: &dyn Fn(usize) -> usize,
    ) -> Option<Result<Vec<u8>>> {
        Some(match array.data_type() {
            DataType::Int8 => self.convert(array.as_primitive::<Int8Type>(), i128::from, cell_of)?,
            DataType::Int16 => self.convert(array.as_primitive::<Int16Type>(), i128::from, cell_of)?,
            DataType::Int32 => self.convert(array.as_primitive::<Int32Type>(), i128::from, cell_of)?,
            DataType::Int64 => self.convert(array.as_primitive::<Int64Type>(), i128::from, cell_of)?,
            DataType::UInt8 => self.convert(array.as_primitive::<UInt8Type>(), i128::from, cell_of)?,
            DataType::UInt16 => self.convert(array.as_primitive::<UInt16Type>(), i128::from, cell_of)?,
            DataType::UInt32 => self.convert(array.as_primitive::<UInt32Type>(), i128::from, cell_of)?,
            DataType::UInt64 => self.convert(array.as_primitive::<UInt64Type>(), i128::from, cell_of)?,
            DataType::Float32 => self.convert(array.as_primitive::<Float32Type>(), f64::from, cell_of)?,
            DataType::Float64 => self.convert(array.as_primitive::<Float64Type>(), |value| value, cell_of)?,
            _ => return None,
        })
    }

    fn convert<T: ArrowPrimitiveType, N: Number>(
        &self,
        array: &PrimitiveArray<T>,
        number: impl Fn(T::Native) -> N,
        cell_of: &dyn Fn(usize) -> usize,
    ) -> Option<Result<Vec<u8>>> {
        let write = N::writer(self.datatype)?;
        let mut bytes = Vec::with_capacity(array.len() * self.datatype.size());
        for (index, value) in array.values().iter().enumerate() {
            let number = if array.is_null(index) { N::default() } else { number(*value) };
            if !write(number, &mut bytes) {
                let problem = Problem::DoesNotFit { value: number.to_string(), datatype: self.datatype };
                return Some(Err(self.error(cell_of(index), problem)));
            }
        }
        Some(Ok(bytes))
    }
}

/// Appends the bytes of a number in another type. Returns `false` if the conversion loses
/// information.
type Write<N> = fn(N, &mut Vec<u8>) -> bool;

/// The widest type of a kind: `i128` for integers, `f64` for floats.
trait Number: Copy + Default + std::fmt::Display {
    /// Returns the writer for a datatype. Returns `None` if numbers of this kind are never
    /// converted to it.
    fn writer(datatype: Datatype) -> Option<Write<Self>>;
}

fn integer<T: TryFrom<i128> + bytemuck::NoUninit>(number: i128, bytes: &mut Vec<u8>) -> bool {
    let fits = T::try_from(number);
    fits.map(|value| bytes.extend_from_slice(bytemuck::bytes_of(&value))).is_ok()
}

impl Number for i128 {
    fn writer(datatype: Datatype) -> Option<Write<Self>> {
        Some(match datatype {
            Datatype::Int8 => integer::<i8>,
            Datatype::Int16 => integer::<i16>,
            Datatype::Int32 => integer::<i32>,
            Datatype::Int64 => integer::<i64>,
            Datatype::UInt8 => integer::<u8>,
            Datatype::UInt16 => integer::<u16>,
            Datatype::UInt32 => integer::<u32>,
            Datatype::UInt64 => integer::<u64>,
            Datatype::Float32 => |number, bytes| {
                bytes.extend_from_slice(&(number as f32).to_le_bytes());
                (number as f32) as i128 == number
            },
            Datatype::Float64 => |number, bytes| {
                bytes.extend_from_slice(&(number as f64).to_le_bytes());
                (number as f64) as i128 == number
            },
            _ => return None,
        })
    }
}

impl Number for f64 {
    fn writer(datatype: Datatype) -> Option<Write<Self>> {
        Some(match datatype {
            Datatype::Float64 => |number, bytes| {
                bytes.extend_from_slice(&number.to_le_bytes());
                true
            },
            Datatype::Float32 => |number, bytes| {
                let narrow = number as f32;
                bytes.extend_from_slice(&narrow.to_le_bytes());
                number.is_nan() || f64::from(narrow) == number
            },
            // Floats never become integers implicitly. The caller has to cast them.
            _ => return None,
        })
    }
}

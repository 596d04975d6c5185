//! Values of fixed size.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};

use super::buffers;
use super::cells::Cells;
use crate::dates::{Converted, NO_TIME, Unit};
use crate::element::Element;
use crate::{Problem, Result};

/// Selects the dates and times to read as null.
#[derive(Clone, Copy)]
pub(super) struct NullDates {
    /// "No time".
    pub(super) no_time: bool,
    /// Values beyond the Arrow type.
    pub(super) far: bool,
}

/// Converts the values of cells. `cell_of` maps a value to its cell.
pub(super) fn array(
    cells: &Cells<'_>,
    element: &Element,
    nulls: Option<NullBuffer>,
    null_dates: NullDates,
    cell_of: impl Fn(usize) -> usize,
) -> Result<ArrayRef> {
    let nulls = match null_dates.no_time && element.may_become_null() {
        true => with_no_time(cells, nulls),
        false => nulls,
    };
    let dates = Dates { cells, nulls: nulls.as_ref(), far_is_null: null_dates.far };
    match element {
        Element::Same(data_type) | Element::Time(data_type) => same(cells, data_type, nulls),
        // Bytes become an array only for single-byte cells of types without a better Arrow type.
        Element::Byte { .. } => primitive::<UInt8Type>(cells, nulls),
        Element::Boolean => {
            let bytes: &[u8] = &cells.values;
            let bits = BooleanBuffer::collect_bool(bytes.len(), |value| bytes[value] != 0);
            Ok(Arc::new(BooleanArray::new(bits, nulls)))
        }
        Element::Date(unit, DataType::Date32) => dates.array::<Date32Type>(*unit, Unit::Day, cell_of),
        Element::Date(unit, DataType::Time32(TimeUnit::Millisecond)) => {
            dates.array::<Time32MillisecondType>(*unit, Unit::Milli, cell_of)
        }
        Element::Date(unit, DataType::Time32(_)) => dates.array::<Time32SecondType>(*unit, Unit::Second, cell_of),
        Element::Date(unit, DataType::Timestamp(TimeUnit::Millisecond, _)) => {
            dates.array::<TimestampMillisecondType>(*unit, Unit::Milli, cell_of)
        }
        Element::Date(unit, _) => dates.array::<TimestampSecondType>(*unit, Unit::Second, cell_of),
    }
}

fn primitive<T: ArrowPrimitiveType>(cells: &Cells<'_>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(buffers::scalars(cells.values.clone()), nulls)?))
}

/// Keeps the bits of the values.
fn same(cells: &Cells<'_>, data_type: &DataType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    match data_type {
        DataType::Int8 => primitive::<Int8Type>(cells, nulls),
        DataType::Int16 => primitive::<Int16Type>(cells, nulls),
        DataType::Int32 => primitive::<Int32Type>(cells, nulls),
        DataType::UInt8 => primitive::<UInt8Type>(cells, nulls),
        DataType::UInt16 => primitive::<UInt16Type>(cells, nulls),
        DataType::UInt32 => primitive::<UInt32Type>(cells, nulls),
        DataType::UInt64 => primitive::<UInt64Type>(cells, nulls),
        DataType::Float32 => primitive::<Float32Type>(cells, nulls),
        DataType::Float64 => primitive::<Float64Type>(cells, nulls),
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(cells, nulls),
        DataType::Timestamp(TimeUnit::Millisecond, _) => primitive::<TimestampMillisecondType>(cells, nulls),
        DataType::Timestamp(TimeUnit::Microsecond, _) => primitive::<TimestampMicrosecondType>(cells, nulls),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => primitive::<TimestampNanosecondType>(cells, nulls),
        DataType::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType>(cells, nulls),
        DataType::Time64(_) => primitive::<Time64NanosecondType>(cells, nulls),
        _ => primitive::<Int64Type>(cells, nulls),
    }
}

/// Adds "no time" values to the nulls.
fn with_no_time(cells: &Cells<'_>, nulls: Option<NullBuffer>) -> Option<NullBuffer> {
    let values: &[i64] = cells.values.values().unwrap_or_default();
    if !values.contains(&NO_TIME) {
        return nulls;
    }
    let times = BooleanBuffer::collect_bool(values.len(), |value| values[value] != NO_TIME);
    NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::new(times)))
}

/// Dates or times in a new unit.
struct Dates<'a> {
    cells: &'a Cells<'a>,
    nulls: Option<&'a NullBuffer>,
    /// `true` to replace values beyond the target type by null, `false` to fail.
    far_is_null: bool,
}

impl Dates<'_> {
    fn array<T: ArrowPrimitiveType>(&self, from: Unit, to: Unit, cell_of: impl Fn(usize) -> usize) -> Result<ArrayRef>
    where
        T::Native: TryFrom<i64>,
    {
        let values: &[i64] = self.cells.values.values().unwrap_or_default();
        let (mut converted, mut far) = (Vec::with_capacity(values.len()), Vec::new());
        for (index, value) in values.iter().enumerate() {
            if self.nulls.is_some_and(|nulls| nulls.is_null(index)) {
                converted.push(T::Native::default());
                continue;
            }
            let number = match from.convert(*value, to) {
                Converted::To(number) => T::Native::try_from(number).ok(),
                Converted::NotWhole | Converted::OutOfRange => None,
            };
            if number.is_none() {
                if !self.far_is_null {
                    let problem = Problem::OutOfRange { value: *value, datatype: self.cells.datatype };
                    return Err(self.cells.error(cell_of(index), problem));
                }
                far.push(index);
            }
            converted.push(number.unwrap_or_default());
        }
        let mut nulls = self.nulls.cloned();
        if !far.is_empty() {
            let mut valid = vec![true; values.len()];
            far.iter().for_each(|index| valid[*index] = false);
            nulls = NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::from(valid)));
        }
        Ok(Arc::new(PrimitiveArray::<T>::try_new(converted.into(), nulls)?))
    }
}

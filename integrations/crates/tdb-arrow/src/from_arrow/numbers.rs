//! Values of fixed size.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Time32MillisecondType, Time32SecondType};
use arrow_array::{Array, downcast_primitive_array};
use arrow_schema::{DataType, TimeUnit};
use tdb_array::tdb_types::Datatype;

use super::target::Target;
use crate::dates::{Converted, NO_TIME, Unit};
use crate::element::Element;
use crate::layout::integer;
use crate::{ArrowOptions, Problem, Result};

impl Target<'_> {
    /// Converts the values of an array to the field's type, null or not. Borrows them if the bits
    /// are the same. `whole` is the type of the column, and `cell_of` maps a value to a cell. Both
    /// are used only in errors.
    pub(super) fn numbers<'a>(
        &self,
        array: &'a dyn Array,
        whole: &DataType,
        cell_of: &dyn Fn(usize) -> usize,
    ) -> Result<Cow<'a, [u8]>> {
        let data_type = array.data_type();
        let is_date = self.datatype.is_datetime();
        let of_field = Unit::of(self.datatype);
        // `Int64` columns count in the unit of the field.
        let of_array = Unit::of_arrow(data_type, is_date).or(of_field.filter(|_| *data_type == DataType::Int64));
        let unit = of_field.zip(of_array);
        if self.is_same(data_type, unit)
            && !(self.has_no_time() && array.null_count() > 0)
            && let Some(values) = values_of(array)
        {
            return Ok(Cow::Borrowed(values));
        }
        match (data_type, unit) {
            (DataType::Boolean, _) if self.datatype == Datatype::Bool => {
                let bits = array.as_boolean().values();
                Ok(Cow::Owned(bits.iter().map(u8::from).collect()))
            }
            (_, Some((to, from))) => self.dates(array, from, to, cell_of).map(Cow::Owned),
            _ => match self.of_other_width(array, cell_of) {
                Some(values) => values.map(Cow::Owned),
                None => Err(self.wrong_type(whole)),
            },
        }
    }

    /// Returns `true` if values of this Arrow type have the same bits as values of the field.
    fn is_same(&self, data_type: &DataType, unit: Option<(Unit, Unit)>) -> bool {
        if matches!(Element::of(self.datatype, &ArrowOptions::new()), Element::Byte { .. }) {
            return matches!(data_type, DataType::Int8 | DataType::UInt8);
        }
        let wide = !matches!(data_type, DataType::Date32 | DataType::Time32(_));
        *data_type == integer(self.datatype) || (wide && unit.is_some_and(|(to, from)| to == from))
    }

    /// Converts dates or times to the unit of the field. Null becomes "no time".
    fn dates(&self, array: &dyn Array, from: Unit, to: Unit, cell_of: &dyn Fn(usize) -> usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(array.len() * 8);
        for (index, value) in counts(array).into_iter().enumerate() {
            let converted = if array.is_null(index) {
                NO_TIME
            } else {
                let datatype = self.datatype;
                match from.convert(value, to) {
                    Converted::To(value) => value,
                    Converted::NotWhole => {
                        return Err(self.error(cell_of(index), Problem::NotWhole { value, datatype }));
                    }
                    Converted::OutOfRange => {
                        return Err(self.error(cell_of(index), Problem::OutOfRange { value, datatype }));
                    }
                }
            };
            bytes.extend_from_slice(&converted.to_le_bytes());
        }
        Ok(bytes)
    }
}

/// Returns the stored numbers of an array of dates or times.
fn counts(array: &dyn Array) -> Vec<i64> {
    let wide = |values: &[i32]| values.iter().map(|value| i64::from(*value)).collect();
    match array.data_type() {
        DataType::Date32 => wide(array.as_primitive::<Date32Type>().values()),
        DataType::Time32(TimeUnit::Millisecond) => wide(array.as_primitive::<Time32MillisecondType>().values()),
        DataType::Time32(_) => wide(array.as_primitive::<Time32SecondType>().values()),
        _ => {
            let values = values_of(array).unwrap_or_default().chunks_exact(8);
            values.filter_map(|value| Some(i64::from_le_bytes(value.try_into().ok()?))).collect()
        }
    }
}

/// Returns the bytes of the values of a primitive array, or `None` for another array.
pub(super) fn values_of(array: &dyn Array) -> Option<&[u8]> {
    downcast_primitive_array!(
        array => Some(array.values().inner().as_slice()),
        _ => None
    )
}

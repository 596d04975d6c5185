//! Strings and binary.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, GenericByteArray, GenericByteViewArray};
use arrow_schema::DataType;

use super::cells::{Cells, validity};
use super::target::Target;
use crate::ArrowOptions;
use crate::element::Element;

impl Target<'_> {
    /// Converts strings and binary. Returns `None` if the column or the field has another type.
    pub(super) fn bytes<'a>(&self, array: &'a dyn Array) -> Option<Cells<'a>> {
        if self.datatype.size() != 1 {
            return None;
        }
        match (self.number.fixed(), array.data_type()) {
            (None, DataType::Utf8) => Some(of_size(array.as_string::<i32>(), small)),
            (None, DataType::LargeUtf8) => Some(of_size(array.as_string::<i64>(), large)),
            (None, DataType::Binary) => Some(of_size(array.as_binary::<i32>(), small)),
            (None, DataType::LargeBinary) => Some(of_size(array.as_binary::<i64>(), large)),
            (None, DataType::Utf8View) => Some(of_views(array.as_string_view())),
            (None, DataType::BinaryView) => Some(of_views(array.as_binary_view())),
            (Some(number), DataType::FixedSizeBinary(size)) if i64::from(number) == i64::from(*size) => {
                let element = Element::of(self.datatype, &ArrowOptions::new());
                let array = array.as_fixed_size_binary();
                let values = array.values().as_slice().get(..array.len() * number as usize)?;
                let cells = Cells { values: Cow::Borrowed(values), offsets: None, validity: validity(array.nulls()) };
                matches!(element, Element::Byte { .. }).then_some(cells)
            }
            _ => None,
        }
    }
}

fn of_size<T: ByteArrayType>(array: &GenericByteArray<T>, offsets: fn(&[T::Offset]) -> Cow<'_, [u64]>) -> Cells<'_> {
    let values = Cow::Borrowed(array.values().as_slice());
    let offsets = offsets(array.value_offsets());
    Cells { values, offsets: Some(offsets), validity: validity(array.nulls()) }
}

/// Reinterprets 64-bit offsets as unsigned. Arrow offsets are never negative, so the bits are the
/// same.
fn large(offsets: &[i64]) -> Cow<'_, [u64]> {
    Cow::Borrowed(bytemuck::cast_slice(offsets))
}

fn small(offsets: &[i32]) -> Cow<'_, [u64]> {
    Cow::Owned(offsets.iter().map(|offset| u64::from(offset.unsigned_abs())).collect())
}

fn of_views<T: ByteViewType + ?Sized>(array: &GenericByteViewArray<T>) -> Cells<'_> {
    let (mut values, mut ends) = (Vec::new(), vec![0]);
    for cell in 0..array.len() {
        if array.is_valid(cell) {
            let value: &T::Native = array.value(cell);
            values.extend_from_slice(value.as_ref());
        }
        ends.push(values.len() as u64);
    }
    Cells { values: Cow::Owned(values), offsets: Some(Cow::Owned(ends)), validity: validity(array.nulls()) }
}

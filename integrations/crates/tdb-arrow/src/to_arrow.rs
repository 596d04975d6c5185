//! Conversion of columns to Arrow arrays.

mod buffers;
mod cells;
mod positions;
mod strings;
mod values;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, FixedSizeBinaryArray, FixedSizeListArray, LargeListArray, ListArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_select::take::take;
use tdb_array::Column;
use tdb_array::tdb_schema::Enumeration;
use tdb_array::tdb_types::{Buffer, SharedBuffer};

use crate::layout::{Layout, type_of_values};
use crate::{ArrowOptions, Error, Result};
use cells::Cells;
use values::NullDates;

/// Converts a column to an Arrow array.
pub(crate) fn array(
    name: &str,
    column: Column,
    layout: &Layout,
    may_become_null: bool,
    options: &ArrowOptions,
) -> Result<ArrayRef> {
    let (datatype, len) = (column.datatype(), column.len());
    let (values, offsets, validity) = column.into_buffers();
    let nulls = validity.map(|bits| NullBuffer::new(BooleanBuffer::new(buffers::shared(bits), 0, len)));
    let cells = Cells { name, datatype, values, offsets, nulls };
    match layout {
        Layout::Positions(enumeration, values) => positions::array(cells, enumeration, values, options),
        Layout::Values(enumeration, values) => {
            let dictionary = positions::array(cells, enumeration, values, options)?;
            Ok(take(values, dictionary.as_any_dictionary().keys(), None)?)
        }
        layout => plain(cells, layout, may_become_null, options),
    }
}

/// Converts the values of an enumeration, in order of position.
pub(crate) fn enumeration_values(enumeration: &Enumeration, options: &ArrowOptions) -> Result<ArrayRef> {
    let in_enumeration = |error| match error {
        Error::Cell { cell, problem, .. } => {
            Error::Enumeration { enumeration: enumeration.name().to_owned(), value: cell, problem }
        }
        error => error,
    };
    let (datatype, number) = type_of_values(enumeration);
    let size = datatype.size() as u64;
    // Enumerations are small, and most programs expect 32-bit offsets in dictionary values.
    let small = enumeration.data().len() as u64 / size <= i32::MAX.unsigned_abs().into();
    let options = ArrowOptions { large: !small, views: false, ..options.clone() };
    let offsets = number.is_var().then(|| {
        let ends = enumeration.offsets().iter().copied().chain([enumeration.data().len() as u64]);
        let bytes: Vec<u8> = ends.flat_map(|offset| (offset / size).to_le_bytes()).collect();
        SharedBuffer::from(Buffer::from(bytes))
    });
    let values = SharedBuffer::from(Buffer::from(enumeration.data()));
    let cells = Cells { name: enumeration.name(), datatype, values, offsets, nulls: None };
    let layout = Layout::of(enumeration.name(), datatype, number, &options)?;
    plain(cells, &layout, true, &options).map_err(in_enumeration)
}

/// Converts cells that are not positions in an enumeration.
fn plain(cells: Cells<'_>, layout: &Layout, may_become_null: bool, options: &ArrowOptions) -> Result<ArrayRef> {
    let when_null =
        |may_become_null| NullDates { no_time: may_become_null, far: may_become_null && options.far_is_null };
    Ok(match layout {
        Layout::One(element) => {
            values::array(&cells, element, cells.nulls.clone(), when_null(may_become_null), |value| value)?
        }
        Layout::FixedBytes(size) => {
            Arc::new(FixedSizeBinaryArray::try_new(*size, buffers::shared(cells.values), cells.nulls)?)
        }
        Layout::Bytes { text: true } if options.views => strings::views(cells)?,
        Layout::Bytes { text } => strings::array(cells, *text, options.large)?,
        Layout::FixedList(element, size, item) => {
            let per_cell = usize::try_from(*size).unwrap_or(1);
            let values = values::array(&cells, element, None, when_null(true), |value| value / per_cell)?;
            Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *size, values, cells.nulls)?)
        }
        Layout::List(element, item) => {
            let offsets: &[u64] = cells.offsets.as_ref().and_then(|offsets| offsets.values()).unwrap_or(&[0]);
            let cell_of = |value: usize| offsets.partition_point(|offset| *offset <= value as u64).saturating_sub(1);
            let values = values::array(&cells, element, None, when_null(true), cell_of)?;
            match options.large {
                true => {
                    let offsets = buffers::large_offsets(cells.offsets);
                    Arc::new(LargeListArray::try_new(Arc::clone(item), offsets, values, cells.nulls)?)
                }
                false => {
                    let offsets = buffers::small_offsets(cells.name, cells.offsets.as_ref())?;
                    Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, cells.nulls)?)
                }
            }
        }
        // `array` handles these two.
        Layout::Positions(_, values) | Layout::Values(_, values) => Arc::clone(values),
    })
}

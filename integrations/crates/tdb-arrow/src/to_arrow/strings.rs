//! Strings and binary.

mod few;

use std::sync::Arc;

use arrow_array::types::{GenericBinaryType, GenericStringType};
use arrow_array::{ArrayRef, GenericByteArray, LargeStringArray, OffsetSizeTrait, StringViewArray};
use arrow_buffer::{Buffer, OffsetBuffer};

use super::buffers;
use super::cells::Cells;
use crate::{Problem, Result};

/// Converts cells of bytes to a string array if `text` is set, otherwise to a binary array.
pub(super) fn array(mut cells: Cells<'_>, text: bool, large: bool) -> Result<ArrayRef> {
    let offsets = cells.offsets.take();
    match large {
        true => of_size(cells, buffers::large_offsets(offsets), text),
        false => {
            let offsets = buffers::small_offsets(cells.name, offsets.as_ref())?;
            of_size(cells, offsets, text)
        }
    }
}

/// Converts strings to views. [`few`] handles columns with few distinct strings. Other columns
/// first become a checked string array.
pub(super) fn views(mut cells: Cells<'_>) -> Result<ArrayRef> {
    let offsets: &[u64] = cells.offsets.as_ref().and_then(|offsets| offsets.values()).unwrap_or_default();
    if let Some(views) = few::views(offsets, &cells.values, cells.nulls.as_ref()) {
        return Ok(Arc::new(views));
    }
    let offsets = buffers::large_offsets(cells.offsets.take());
    let strings: LargeStringArray = text_of_size(cells, &offsets)?;
    Ok(Arc::new(StringViewArray::from(&strings)))
}

fn of_size<O: OffsetSizeTrait>(cells: Cells<'_>, offsets: OffsetBuffer<O>, text: bool) -> Result<ArrayRef> {
    if !text {
        let values = buffers::shared(cells.values);
        let array = GenericByteArray::<GenericBinaryType<O>>::try_new(offsets, values, cells.nulls)?;
        return Ok(Arc::new(array));
    }
    Ok(Arc::new(text_of_size(cells, &offsets)?))
}

type Text<O> = GenericByteArray<GenericStringType<O>>;

fn text_of_size<O: OffsetSizeTrait>(cells: Cells<'_>, offsets: &OffsetBuffer<O>) -> Result<Text<O>> {
    let values = buffers::shared(cells.values.clone());
    match Text::try_new(offsets.clone(), values.clone(), cells.nulls.clone()) {
        Ok(array) => Ok(array),
        Err(_) => {
            let (offsets, values) = without_nulls(&cells, offsets, &values)?;
            Ok(Text::try_new(offsets, values, cells.nulls)?)
        }
    }
}

/// Copies the strings, dropping the bytes of null cells and of gaps, which may be invalid UTF-8.
///
/// # Errors
/// A valid cell is not UTF-8.
fn without_nulls<O: OffsetSizeTrait>(
    cells: &Cells<'_>,
    offsets: &OffsetBuffer<O>,
    values: &Buffer,
) -> Result<(OffsetBuffer<O>, Buffer)> {
    let (mut kept, mut ends) = (Vec::new(), vec![O::usize_as(0)]);
    for (cell, ends_of) in offsets.windows(2).enumerate() {
        if cells.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(cell)) {
            let bytes = values.get(ends_of[0].as_usize()..ends_of[1].as_usize()).unwrap_or_default();
            if std::str::from_utf8(bytes).is_err() {
                return Err(cells.error(cell, Problem::NotUtf8));
            }
            kept.extend_from_slice(bytes);
        }
        ends.push(O::usize_as(kept.len()));
    }
    Ok((OffsetBuffer::new(ends.into()), Buffer::from(kept)))
}

//! Conversion of `SharedBuffer` to Arrow buffers, without a copy.

use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer, ScalarBuffer};
use bytes::Bytes;
use tdb_array::tdb_types::SharedBuffer;

use crate::{Error, Result};

/// Wraps a buffer without a copy. The Arrow buffer keeps it alive.
pub(super) fn shared(buffer: SharedBuffer) -> Buffer {
    Buffer::from(Bytes::from_owner(buffer))
}

/// Wraps values without a copy, unless the buffer is not aligned. Buffers of columns are aligned.
pub(super) fn scalars<T: ArrowNativeType>(buffer: SharedBuffer) -> ScalarBuffer<T> {
    let buffer = shared(buffer);
    match buffer.as_ptr().align_offset(align_of::<T>()) {
        0 => ScalarBuffer::from(buffer),
        _ => ScalarBuffer::from(Buffer::from_slice_ref(buffer.as_slice())),
    }
}

/// Reinterprets offsets as signed. Offsets of a column never exceed the address space, so the bits
/// are the same.
pub(super) fn large_offsets(offsets: Option<SharedBuffer>) -> OffsetBuffer<i64> {
    match offsets.filter(|offsets| !offsets.is_empty()) {
        Some(offsets) => OffsetBuffer::new(scalars(offsets)),
        None => OffsetBuffer::new_empty(),
    }
}

/// Converts offsets to 32 bits.
pub(super) fn small_offsets(field: &str, offsets: Option<&SharedBuffer>) -> Result<OffsetBuffer<i32>> {
    let offsets: &[u64] = offsets.and_then(SharedBuffer::values).unwrap_or(&[0]);
    let last = offsets.last().copied().unwrap_or(0);
    if i32::try_from(last).is_err() {
        return Err(Error::TooLarge { field: field.to_owned(), values: last });
    }
    // The last offset is the maximum, so no offset is truncated.
    let offsets: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
    Ok(OffsetBuffer::new(offsets.into()))
}

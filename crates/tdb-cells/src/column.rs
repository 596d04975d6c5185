//! Columns of cells in Arrow's memory layout.

mod concat;
mod select;
mod validity;

use std::ops::Range;
use std::sync::Arc;

use bitvec::field::BitField;
use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_types::{Buffer, CellValNum, Cells, Datatype, Offsets, PhysicalType, SharedBuffer, Validity};

use crate::{CellsError, Result};
pub use validity::pack_validity;

/// The cells of a single field in a [`Batch`](crate::Batch).
///
/// The memory layout is Arrow's. Values of all cells are contiguous and aligned to the value size.
/// Variable-length cells have `len() + 1` offsets **counted in values** (not bytes), starting at 0.
/// Nullable fields have a bitmap, least significant bit first, with a set bit for each valid cell.
/// Buffers are shared: cloning a column copies no cells, and slicing a column copies no values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: Arc<str>,
    datatype: Datatype,
    cell_val_num: CellValNum,
    len: usize,
    values: SharedBuffer,
    offsets: Option<SharedBuffer>,
    validity: Option<SharedBuffer>,
}

/// The buffers of a column under construction.
#[derive(Debug, Default)]
pub struct ColumnBuffers {
    /// The values of all cells.
    pub values: Buffer,
    /// For variable-length cells: `len + 1` offsets in values, as `u64`.
    pub offsets: Option<Buffer>,
    /// For nullable fields: one bit per cell, least significant first, set for valid cells.
    pub validity: Option<Buffer>,
}

impl Column {
    /// Creates a column of `len` cells. [`ColumnBuffers`] describes the buffers.
    #[must_use]
    pub fn new(
        name: Arc<str>,
        datatype: Datatype,
        cell_val_num: CellValNum,
        len: usize,
        buffers: ColumnBuffers,
    ) -> Self {
        Self {
            name,
            datatype,
            cell_val_num,
            len,
            values: buffers.values.into(),
            offsets: buffers.offsets.map(Into::into),
            validity: buffers.validity.map(Into::into),
        }
    }

    /// Returns the name of the field.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Returns the number of values per cell.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// Returns the number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all values as the Rust type of the datatype (`f32` for `float32`, `i64` for dates,
    /// ...).
    ///
    /// # Errors
    /// [`CellsError::WrongType`] if `T` is not the type of the datatype, or the buffer does not
    /// consist of whole values.
    pub fn values<T: Value>(&self) -> Result<&[T]> {
        if T::PHYSICAL != self.datatype.physical() {
            return Err(self.wrong_type::<T>());
        }
        self.values.values().ok_or_else(|| self.wrong_type::<T>())
    }

    #[cold]
    fn wrong_type<T: Value>(&self) -> CellsError {
        CellsError::WrongType { field: self.name.to_string(), datatype: self.datatype, asked: T::PHYSICAL }
    }

    /// Returns all values as little-endian bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.values
    }

    /// Returns `len() + 1` offsets into the values, counted in values. Returns `None` for
    /// fixed-length cells.
    #[must_use]
    #[inline]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_ref().and_then(|offsets| offsets.values())
    }

    /// Returns one bit per cell, least significant first, set for valid cells. Returns `None` for
    /// fields that are not nullable.
    #[must_use]
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_deref()
    }

    /// Returns `true` if the cell is not null. Always `true` for a field that is not nullable.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        self.validity().is_none_or(|bits| bits.view_bits::<Lsb0>()[cell])
    }

    /// Returns the number of null cells.
    #[must_use]
    pub fn null_count(&self) -> usize {
        match self.validity() {
            None => 0,
            Some(bits) => bits.view_bits::<Lsb0>()[..self.len].count_zeros(),
        }
    }

    /// Returns the bytes of a cell, or `None` if the cell is null.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    #[inline]
    pub fn cell(&self, cell: usize) -> Option<&[u8]> {
        self.is_valid(cell).then(|| self.cell_bytes(cell))
    }

    /// Returns the bytes of a cell, even if the cell is null.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    #[inline]
    pub fn cell_bytes(&self, cell: usize) -> &[u8] {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        &self.values[self.bytes_of(cell..cell + 1)]
    }

    /// Returns the byte range of `cells` in the values.
    #[inline]
    fn bytes_of(&self, cells: Range<usize>) -> Range<usize> {
        let size = self.datatype.size();
        match (self.offsets(), self.cell_val_num.fixed()) {
            (Some(offsets), _) => offsets[cells.start] as usize * size..offsets[cells.end] as usize * size,
            (None, number) => {
                let size = size * number.unwrap_or(1) as usize;
                cells.start * size..cells.end * size
            }
        }
    }

    /// Returns a view of the cells. [`Cells`] also represents the cells of tiles.
    #[must_use]
    pub fn cells(&self) -> Cells<'_> {
        let cells = match self.offsets() {
            Some(offsets) => Cells::var(Offsets::in_values(offsets, self.datatype.size()), &self.values),
            None => Cells::fixed(&self.values, self.datatype.size() * self.cell_val_num.fixed().unwrap_or(1) as usize),
        };
        cells.with_validity(self.validity().map(Validity::bits))
    }

    /// Returns a range of cells as a separate column with shared values. Offsets are copied.
    /// Validity is copied unless both ends of the range are multiples of 8.
    ///
    /// # Panics
    /// If the range is reversed or exceeds the number of cells.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        assert!(cells.start <= cells.end && cells.end <= self.len, "cells {cells:?} of {}", self.len);
        let values = self.values.slice(self.bytes_of(cells.clone()));
        let offsets = self.offsets().map(|offsets| rebased(&offsets[cells.start..=cells.end]).into());
        let validity = self.validity.as_ref().map(|bits| slice_of_bits(bits, cells.clone()));
        Self { name: Arc::clone(&self.name), len: cells.len(), values, offsets, validity, ..*self }
    }

    /// Returns the values, the offsets and the validity, to build other columns without a copy. The
    /// offsets are `None` for fixed-length cells, and the validity is `None` for fields that are
    /// not nullable.
    #[must_use]
    pub fn into_buffers(self) -> (SharedBuffer, Option<SharedBuffer>, Option<SharedBuffer>) {
        (self.values, self.offsets, self.validity)
    }

    /// Returns the memory of all cells before `cell`, in bytes. Includes the offset at the end of
    /// these cells.
    pub fn memory_before(&self, cell: usize) -> usize {
        let offsets = if self.offsets.is_some() { 8 * (cell + 1) } else { 0 };
        self.bytes_of(0..cell).len() + offsets + if self.validity.is_some() { cell.div_ceil(8) } else { 0 }
    }

    /// Returns the memory of all cells, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory_before(self.len)
    }
}

/// Returns the offsets minus the first offset.
fn rebased(offsets: &[u64]) -> Buffer {
    let mut buffer = Buffer::zeroed(size_of_val(offsets));
    let first = offsets.first().copied().unwrap_or(0);
    let words = buffer.values_mut::<u64>().unwrap_or_default();
    words.iter_mut().zip(offsets).for_each(|(to, from)| *to = from - first);
    buffer
}

/// Returns the bits of `cells`, shifted to start at the lowest bit of the first byte.
fn slice_of_bits(bits: &SharedBuffer, cells: Range<usize>) -> SharedBuffer {
    let bytes = cells.start / 8..cells.end.div_ceil(8);
    if cells.start.is_multiple_of(8) && cells.end.is_multiple_of(8) {
        return bits.slice(bytes);
    }
    // In the copy, bits after the last cell are 0.
    let mut moved = Buffer::zeroed(cells.len().div_ceil(8));
    let from = bits.view_bits::<Lsb0>()[cells].chunks(8);
    moved.iter_mut().zip(from).for_each(|(to, bits)| *to = bits.load_le());
    moved.into()
}

/// A Rust type of values. Several datatypes can share a type, such as `i64` for dates.
pub trait Value: bytemuck::Pod + private::Sealed {
    /// The physical type of these values.
    const PHYSICAL: PhysicalType;
}

mod private {
    #[allow(unreachable_pub)] // sealed: not nameable from other crates
    pub trait Sealed {}
}

macro_rules! value {
    ($($type:ty: $physical:ident;)*) => {$(
        impl private::Sealed for $type {}
        impl Value for $type {
            const PHYSICAL: PhysicalType = PhysicalType::$physical;
        }
    )*};
}

value! {
    i8: I8;
    u8: U8;
    i16: I16;
    u16: U16;
    i32: I32;
    u32: U32;
    i64: I64;
    u64: U64;
    f32: F32;
    f64: F64;
}

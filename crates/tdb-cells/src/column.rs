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
    /// For nullable fields: a bit per cell.
    pub validity: Option<Buffer>,
}

impl Column {
    /// Creates a column of `len` cells from buffers as described in [`ColumnBuffers`].
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

    /// The name of the field.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// The number of values per cell.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// The number of cells.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// `true` if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all values as the Rust type of the datatype (`f32` for `float32`, `i64` for dates,
    /// ...).
    ///
    /// # Errors
    /// [`CellsError::WrongType`] if `T` is another type.
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

    /// All values as little-endian bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.values
    }

    /// For variable-length cells: `len() + 1` offsets into the values, counted in values.
    #[must_use]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_ref().and_then(|offsets| offsets.values())
    }

    /// For nullable fields: a bit per cell, least significant first, set for valid cells.
    #[must_use]
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_deref()
    }

    /// `true` if the cell is not null. Always `true` in a field without nulls.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        self.validity().is_none_or(|bits| bits.view_bits::<Lsb0>()[cell])
    }

    /// The number of null cells.
    #[must_use]
    pub fn null_count(&self) -> usize {
        match self.validity() {
            None => 0,
            Some(bits) => bits.view_bits::<Lsb0>()[..self.len].count_zeros(),
        }
    }

    /// The bytes of a cell. Returns `None` if the cell is null.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    pub fn cell(&self, cell: usize) -> Option<&[u8]> {
        self.is_valid(cell).then(|| self.cell_bytes(cell))
    }

    /// The bytes of a cell, null or not.
    ///
    /// # Panics
    /// If the cell does not exist.
    #[must_use]
    pub fn cell_bytes(&self, cell: usize) -> &[u8] {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        &self.values[self.bytes_of(cell..cell + 1)]
    }

    /// The byte range of some cells in the values.
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

    /// Returns the cells as a view common to columns and tiles.
    #[must_use]
    pub fn cells(&self) -> Cells<'_> {
        let cells = match self.offsets() {
            Some(offsets) => Cells::var(Offsets::in_values(offsets, self.datatype.size()), &self.values),
            None => Cells::fixed(&self.values, self.datatype.size() * self.cell_val_num.fixed().unwrap_or(1) as usize),
        };
        cells.with_validity(self.validity().map(Validity::bits))
    }

    /// Returns a range of cells as a separate column with shared values. Offsets are copied.
    /// Validity is copied if the range is not aligned to whole bytes.
    ///
    /// # Panics
    /// If the range exceeds the number of cells.
    #[must_use]
    pub fn slice(&self, cells: Range<usize>) -> Self {
        assert!(cells.start <= cells.end && cells.end <= self.len, "cells {cells:?} of {}", self.len);
        let values = self.values.slice(self.bytes_of(cells.clone()));
        let offsets = self.offsets().map(|offsets| rebased(&offsets[cells.start..=cells.end]).into());
        let validity = self.validity.as_ref().map(|bits| slice_of_bits(bits, cells.clone()));
        Self { name: Arc::clone(&self.name), len: cells.len(), values, offsets, validity, ..*self }
    }

    /// Returns the buffers, for building other columns without a copy: values, offsets, validity.
    #[must_use]
    pub fn into_buffers(self) -> (SharedBuffer, Option<SharedBuffer>, Option<SharedBuffer>) {
        (self.values, self.offsets, self.validity)
    }

    /// The memory of all cells before `cell`, in bytes.
    pub fn memory_before(&self, cell: usize) -> usize {
        let offsets = if self.offsets.is_some() { 8 * (cell + 1) } else { 0 };
        self.bytes_of(0..cell).len() + offsets + if self.validity.is_some() { cell.div_ceil(8) } else { 0 }
    }

    /// The memory of the cells, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.memory_before(self.len)
    }
}

/// Shifts offsets to start at 0.
fn rebased(offsets: &[u64]) -> Buffer {
    let mut buffer = Buffer::zeroed(size_of_val(offsets));
    let first = offsets.first().copied().unwrap_or(0);
    let words = buffer.values_mut::<u64>().unwrap_or_default();
    words.iter_mut().zip(offsets).for_each(|(to, from)| *to = from - first);
    buffer
}

/// Returns the bits of some cells, starting at the lowest bit of the first byte.
fn slice_of_bits(bits: &SharedBuffer, cells: Range<usize>) -> SharedBuffer {
    let bytes = cells.start / 8..cells.end.div_ceil(8);
    if cells.start.is_multiple_of(8) && cells.end.is_multiple_of(8) {
        return bits.slice(bytes);
    }
    // Bits after the last cell are 0, as in every bitmap.
    let mut moved = Buffer::zeroed(cells.len().div_ceil(8));
    let from = bits.view_bits::<Lsb0>()[cells].chunks(8);
    moved.iter_mut().zip(from).for_each(|(to, bits)| *to = bits.load_le());
    moved.into()
}

/// A Rust type for the values of some datatypes.
pub trait Value: bytemuck::Pod + private::Sealed {
    /// The corresponding physical type.
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

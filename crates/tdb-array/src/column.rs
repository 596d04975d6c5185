//! Columns of cells in Arrow's memory layout.

use std::sync::Arc;

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_types::{Buffer, CellValNum, Datatype, PhysicalType};

use crate::{ArrayError, Result};

/// The cells of one field in one [`Batch`](crate::Batch).
///
/// The memory layout is Arrow's: the values of all cells one after the other, aligned to 8 bytes; for cells of variable
/// length `len() + 1` offsets **counted in values** (not bytes); for nullable fields a bitmap with the bit of a valid
/// cell set, least significant bit first. Buffers are shared: cloning a column copies no cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    name: Arc<str>,
    datatype: Datatype,
    cell_val_num: CellValNum,
    len: usize,
    values: Arc<Buffer>,
    offsets: Option<Arc<Buffer>>,
    validity: Option<Arc<Buffer>>,
}

/// The buffers of a column while it is put together.
#[derive(Debug, Default)]
pub(crate) struct ColumnBuffers {
    /// The values of all cells.
    pub(crate) values: Buffer,
    /// For cells of variable length: `len + 1` offsets in values, as `u64`.
    pub(crate) offsets: Option<Buffer>,
    /// For nullable fields: one bit per cell.
    pub(crate) validity: Option<Buffer>,
}

impl Column {
    pub(crate) fn new(
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
            values: Arc::new(buffers.values),
            offsets: buffers.offsets.map(Arc::new),
            validity: buffers.validity.map(Arc::new),
        }
    }

    /// The field's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The datatype of the values.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// How many values a cell holds.
    #[must_use]
    pub fn cell_val_num(&self) -> CellValNum {
        self.cell_val_num
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All values as the Rust type that their datatype lies in memory as (`f32` for `float32`, `i64` for dates, …).
    ///
    /// # Errors
    /// [`ArrayError::WrongType`] if `T` is another type.
    pub fn values<T: Value>(&self) -> Result<&[T]> {
        if T::PHYSICAL != self.datatype.physical() {
            return Err(self.wrong_type::<T>());
        }
        self.values.values().ok_or_else(|| self.wrong_type::<T>())
    }

    #[cold]
    fn wrong_type<T: Value>(&self) -> ArrayError {
        ArrayError::WrongType { field: self.name.to_string(), datatype: self.datatype, asked: T::PHYSICAL }
    }

    /// All values as little-endian bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.values
    }

    /// For cells of variable length: `len() + 1` offsets into the values, counted in values.
    #[must_use]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_ref().and_then(|offsets| offsets.values())
    }

    /// For nullable fields: one bit per cell, least significant first, set where the cell is valid.
    #[must_use]
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_ref().map(|validity| &***validity)
    }

    /// Whether the cell holds a value (always so in a field that isn't nullable).
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn is_valid(&self, cell: usize) -> bool {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        self.validity().is_none_or(|bits| bits.view_bits::<Lsb0>()[cell])
    }

    /// How many cells are null.
    #[must_use]
    pub fn null_count(&self) -> usize {
        match self.validity() {
            None => 0,
            Some(bits) => bits.view_bits::<Lsb0>()[..self.len].count_zeros(),
        }
    }

    /// The bytes of one cell; none if it is null.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn cell(&self, cell: usize) -> Option<&[u8]> {
        self.is_valid(cell).then(|| self.cell_bytes(cell))
    }

    /// The bytes of one cell, null or not.
    ///
    /// # Panics
    /// If there is no such cell.
    #[must_use]
    pub fn cell_bytes(&self, cell: usize) -> &[u8] {
        assert!(cell < self.len, "cell {cell} of {}", self.len);
        let size = self.datatype.size();
        let (start, end) = match (self.offsets(), self.cell_val_num.fixed()) {
            (Some(offsets), _) => (offsets[cell] as usize * size, offsets[cell + 1] as usize * size),
            (None, number) => {
                let size = size * number.unwrap_or(1) as usize;
                (cell * size, (cell + 1) * size)
            }
        };
        &self.values[start..end]
    }

    /// The buffers, for those who build other columns over them without a copy: values, offsets, validity.
    #[must_use]
    pub fn into_buffers(self) -> (Arc<Buffer>, Option<Arc<Buffer>>, Option<Arc<Buffer>>) {
        (self.values, self.offsets, self.validity)
    }

    /// Bytes of memory that the cells take.
    #[must_use]
    pub fn memory(&self) -> usize {
        let optional = |buffer: &Option<Arc<Buffer>>| buffer.as_ref().map_or(0, |buffer| buffer.len());
        self.values.len() + optional(&self.offsets) + optional(&self.validity)
    }
}

/// A Rust type that values of some datatypes lie in memory as.
pub trait Value: bytemuck::Pod + private::Sealed {
    /// Which physical type it is.
    const PHYSICAL: PhysicalType;
}

mod private {
    #[allow(unreachable_pub)] // sealed: nobody outside can name it
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

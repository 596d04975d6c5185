//! Cells to write, column by column, borrowed from the caller.

mod check;

use std::borrow::Cow;

use tdb_types::{Cells, Offsets, PhysicalType, Validity};

pub use check::{Checker, check_column};

use crate::{Batch, Column, Value};

/// The values of a field in new cells, in the memory layout of [`Column`]. Borrowed if the caller's
/// data already has this layout.
///
/// Created with `into()` from a slice of numbers or from a [`Column`], or with a constructor:
///
/// ```
/// use tdb_cells::WriteColumn;
///
/// let numbers: WriteColumn = (&[1i32, 2, 3]).into();
/// let some = WriteColumn::options([Some(0.5f64), None, Some(1.5)]);
/// let words = WriteColumn::strings(["one", "two", "three"]);
/// let pairs = WriteColumn::values(&[1u16, 2, 3, 4, 5, 6]);           // for an attribute of two values per cell
/// let lists = WriteColumn::values(&[1u8, 2, 3]).with_offsets(&[0, 0, 2, 3]); // [], [1, 2], [3]
/// let valid = WriteColumn::values(&[7i64, 8, 9]).with_validity(&[0b101]);    // 7, null, 9
/// ```
#[derive(Clone, Debug)]
pub struct WriteColumn<'a> {
    /// The values of all cells, little-endian and contiguous.
    pub(crate) values: Cow<'a, [u8]>,
    /// The type of the values. `None` for bytes of any type.
    pub(crate) physical: Option<PhysicalType>,
    /// The start of each cell and the end of the last cell, in values. `None` for fixed-size cells.
    pub(crate) offsets: Option<Cow<'a, [u64]>>,
    /// A bit per cell, set for valid cells. `None` if no cell is null.
    pub(crate) validity: Option<Cow<'a, [u8]>>,
}

impl<'a> WriteColumn<'a> {
    /// Creates a column of numbers in the Rust type of the field's datatype (`i64` for dates).
    /// Without offsets, each cell takes the next values, as many as the schema defines per cell.
    #[must_use]
    pub fn values<T: Value>(values: &'a [T]) -> Self {
        Self::of(bytemuck::cast_slice(values), Some(T::PHYSICAL))
    }

    /// Creates a column from little-endian bytes of values of the field's type.
    #[must_use]
    pub fn bytes(bytes: &'a [u8]) -> Self {
        Self::of(bytes, None)
    }

    /// Creates a column from owned buffers: little-endian values, offsets in values, and validity
    /// bits.
    #[must_use]
    pub fn owned(values: Vec<u8>, offsets: Option<Vec<u64>>, validity: Option<Vec<u8>>) -> WriteColumn<'static> {
        WriteColumn {
            values: Cow::Owned(values),
            physical: None,
            offsets: offsets.map(Cow::Owned),
            validity: validity.map(Cow::Owned),
        }
    }

    fn of(values: &'a [u8], physical: Option<PhysicalType>) -> Self {
        Self { values: Cow::Borrowed(values), physical, offsets: None, validity: None }
    }

    /// Creates a column of strings or other variable-length cells, given as bytes. Each value must
    /// have the size of a byte, because the offsets count bytes.
    #[must_use]
    pub fn strings<S: AsRef<[u8]>>(strings: impl IntoIterator<Item = S>) -> WriteColumn<'static> {
        let (mut values, mut offsets) = (Vec::new(), vec![0]);
        for string in strings {
            values.extend_from_slice(string.as_ref());
            offsets.push(values.len() as u64);
        }
        WriteColumn { values: Cow::Owned(values), physical: None, offsets: Some(Cow::Owned(offsets)), validity: None }
    }

    /// Creates a column of strings and nulls. Values are bytes, as in [`strings`](Self::strings).
    #[must_use]
    pub fn optional_strings<S: AsRef<[u8]>>(strings: impl IntoIterator<Item = Option<S>>) -> WriteColumn<'static> {
        let (mut values, mut offsets, mut validity) = (Vec::new(), vec![0], Vec::new());
        for (cell, string) in strings.into_iter().enumerate() {
            push_bit(&mut validity, cell, string.is_some());
            values.extend_from_slice(string.as_ref().map_or(&[], AsRef::as_ref));
            offsets.push(values.len() as u64);
        }
        let (values, offsets) = (Cow::Owned(values), Some(Cow::Owned(offsets)));
        WriteColumn { values, physical: None, offsets, validity: Some(Cow::Owned(validity)) }
    }

    /// Creates a column of numbers and nulls.
    #[must_use]
    pub fn options<T: Value>(options: impl IntoIterator<Item = Option<T>>) -> WriteColumn<'static> {
        let (mut values, mut validity) = (Vec::new(), Vec::new());
        for (cell, option) in options.into_iter().enumerate() {
            push_bit(&mut validity, cell, option.is_some());
            let value = option.unwrap_or_else(bytemuck::Zeroable::zeroed);
            values.extend_from_slice(bytemuck::bytes_of(&value));
        }
        let validity = Some(Cow::Owned(validity));
        WriteColumn { values: Cow::Owned(values), physical: Some(T::PHYSICAL), offsets: None, validity }
    }

    /// Returns the bytes of all values.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.values
    }

    /// Returns the start of each cell and the end of the last cell, in values. `None` for
    /// fixed-size cells.
    #[must_use]
    pub fn offsets(&self) -> Option<&[u64]> {
        self.offsets.as_deref()
    }

    /// Returns a bit per cell, least significant first, set for valid cells. `None` means that no
    /// cell is null.
    #[must_use]
    pub fn validity(&self) -> Option<&[u8]> {
        self.validity.as_deref()
    }

    /// Returns the cells. `size` is the size in bytes of a cell, or of a value if there are
    /// offsets.
    pub fn cells(&self, size: usize) -> Cells<'_> {
        let cells = match &self.offsets {
            Some(offsets) => Cells::var(Offsets::in_values(offsets, size), &self.values),
            None => Cells::fixed(&self.values, size),
        };
        cells.with_validity(self.validity.as_deref().map(Validity::bits))
    }

    /// Turns the values into variable-length cells. Cell `i` has the values from `offsets[i]` to
    /// `offsets[i + 1]`, counted in values. There are `n + 1` offsets for `n` cells, borrowed or as
    /// a `Vec`.
    #[must_use]
    pub fn with_offsets(self, offsets: impl Into<Cow<'a, [u64]>>) -> Self {
        Self { offsets: Some(offsets.into()), ..self }
    }

    /// Sets the validity: a bit per cell, least significant first. Cells with a bit of 0 are null.
    /// The bits are borrowed, or given as a `Vec`.
    #[must_use]
    pub fn with_validity(self, bits: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { validity: Some(bits.into()), ..self }
    }
}

fn push_bit(bits: &mut Vec<u8>, index: usize, bit: bool) {
    if index.is_multiple_of(8) {
        bits.push(0);
    }
    if let Some(last) = bits.last_mut() {
        *last |= u8::from(bit) << (index % 8);
    }
}

impl<'a, T: Value> From<&'a [T]> for WriteColumn<'a> {
    fn from(values: &'a [T]) -> Self {
        Self::values(values)
    }
}

impl<'a, T: Value> From<&'a Vec<T>> for WriteColumn<'a> {
    fn from(values: &'a Vec<T>) -> Self {
        Self::values(values)
    }
}

impl<'a, T: Value, const N: usize> From<&'a [T; N]> for WriteColumn<'a> {
    fn from(values: &'a [T; N]) -> Self {
        Self::values(values)
    }
}

impl<'a> From<&'a Column> for WriteColumn<'a> {
    fn from(column: &'a Column) -> Self {
        Self {
            values: Cow::Borrowed(column.bytes()),
            physical: Some(column.datatype().physical()),
            offsets: column.offsets().map(Cow::Borrowed),
            validity: column.validity().map(Cow::Borrowed),
        }
    }
}

/// New cells: a [`WriteColumn`] for each field, all of the same length.
/// ```
/// use tdb_cells::{WriteBatch, WriteColumn};
///
/// let cells = WriteBatch::new()
///     .with("pos", &[1u32, 5, 9])
///     .with("name", WriteColumn::strings(["a", "b", "c"]));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct WriteBatch<'a> {
    /// The columns, by field name.
    pub(crate) columns: Vec<(Cow<'a, str>, WriteColumn<'a>)>,
}

impl<'a> WriteBatch<'a> {
    /// Creates cells without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Iterates over the field names and columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &WriteColumn<'a>)> {
        self.columns.iter().map(|(name, column)| (&**name, column))
    }

    /// Adds a column.
    pub fn with(mut self, field: impl Into<Cow<'a, str>>, column: impl Into<WriteColumn<'a>>) -> Self {
        self.columns.push((field.into(), column.into()));
        self
    }
}

impl<'a> From<&'a Batch> for WriteBatch<'a> {
    fn from(batch: &'a Batch) -> Self {
        let columns = batch.columns().iter().map(|column| (Cow::Borrowed(column.name()), column.into()));
        Self { columns: columns.collect() }
    }
}

impl<'a, 'b: 'a> From<&'a WriteBatch<'b>> for WriteBatch<'a> {
    fn from(cells: &'a WriteBatch<'b>) -> Self {
        let borrow = |column: &'a WriteColumn<'b>| WriteColumn {
            values: Cow::Borrowed(&*column.values),
            physical: column.physical,
            offsets: column.offsets.as_ref().map(|offsets| Cow::Borrowed(&**offsets)),
            validity: column.validity.as_ref().map(|validity| Cow::Borrowed(&**validity)),
        };
        Self { columns: cells.columns.iter().map(|(name, column)| (Cow::Borrowed(&**name), borrow(column))).collect() }
    }
}

impl<'a, N: Into<Cow<'a, str>>, C: Into<WriteColumn<'a>>, const F: usize> From<[(N, C); F]> for WriteBatch<'a> {
    fn from(columns: [(N, C); F]) -> Self {
        Self { columns: columns.into_iter().map(|(name, column)| (name.into(), column.into())).collect() }
    }
}

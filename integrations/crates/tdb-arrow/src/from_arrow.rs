//! Conversion of record batches to cells for writes.

mod bytes;
mod cells;
mod dictionaries;
mod numbers;
mod target;
mod widths;

use std::borrow::Cow;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use tdb_array::tdb_schema::ArrayDefinition;
use tdb_array::tdb_types::CellValNum;
use tdb_array::{Array, WriteBatch};

use crate::dates::NO_TIME;
use crate::{Error, Problem, Result};

use cells::{Cells, validity};

pub(crate) use target::Target;

/// Converts a record batch to cells for a write. Borrows its memory where the types agree.
///
/// Matches columns to fields by name. For an attribute with an enumeration, looks up the values of
/// the column in the enumeration, plain or from a dictionary. Converts numbers of another width if
/// no information is lost. Converts dates and times of another unit if they are multiples of the
/// array's unit. The write rejects a null in a field that is not nullable, with two exceptions: A
/// null date or time becomes "no time". A null in an attribute with an enumeration becomes the fill
/// value, unless this is a position in the enumeration.
///
/// ```
/// use std::sync::Arc;
///
/// use tdb_array::tdb_schema::{Attribute, Dimension, SchemaBuilder};
/// use tdb_array::tdb_types::{CellValNum, Datatype};
/// use tdb_array::Array;
/// use tdb_arrow::arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("array");
/// let schema = SchemaBuilder::sparse()
///     .dimension(Dimension::new("pos", 0u32..=999))
///     .attribute(Attribute::new("base", Datatype::StringUtf8).with_cell_val_num(CellValNum::Var))
///     .build()?;
/// Array::create(&path, schema)?;
///
/// let array = Array::open(&path)?;
/// let batch = RecordBatch::try_from_iter([
///     ("pos", Arc::new(UInt32Array::from(vec![7, 3])) as ArrayRef),
///     ("base", Arc::new(StringArray::from(vec!["A", "CG"])) as ArrayRef),
/// ])?;
/// assert_eq!(array.write().cells(tdb_arrow::cells(&batch, &array)?)?.cells, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// - [`Error::Array`]: the array has no field with the name of a column, or an enumeration cannot
///   be read.
/// - [`Error::MissingField`]: a column has the name of a dimension label.
/// - [`Error::WrongType`]: the type of a column does not fit the field.
/// - [`Error::Cell`]: the array cannot hold a cell.
///
/// The write checks the rest, for example coordinates.
pub fn cells<'a>(batch: &'a RecordBatch, array: &Array) -> Result<WriteBatch<'a>> {
    let mut cells = WriteBatch::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let target = Target::of(array, field.name())?;
        cells = cells.with(field.name().clone(), target.cells(column)?.into_column());
    }
    Ok(cells)
}

/// Converts a record batch like [`cells`], for an array that will be created from `definition`.
/// Ignores columns without a field in the definition.
///
/// # Errors
/// [`Error::WrongType`] and [`Error::Cell`], as for [`cells`].
pub fn cells_for<'a>(batch: &'a RecordBatch, definition: &ArrayDefinition) -> Result<WriteBatch<'a>> {
    let mut cells = WriteBatch::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        if let Some(target) = Target::of_definition(definition, field.name())? {
            cells = cells.with(field.name().clone(), target.cells(column)?.into_column());
        }
    }
    Ok(cells)
}

impl Target<'_> {
    /// Converts an Arrow array to cells of this field.
    pub(crate) fn cells<'a>(&self, array: &'a dyn arrow_array::Array) -> Result<Cells<'a>> {
        if *array.data_type() == DataType::Null {
            return self.nulls(array.len());
        }
        match (array.as_any_dictionary_opt(), &self.enumeration) {
            (Some(dictionary), Some(enumeration)) => self.positions_of_dictionary(dictionary, enumeration),
            (Some(dictionary), None) => self.values_of_dictionary(dictionary),
            (None, Some(enumeration)) => self.positions_of_values(array, enumeration),
            (None, None) => self.plain(array),
        }
    }

    /// Converts an untyped column (`Null`), where every cell is null.
    fn nulls(&self, len: usize) -> Result<Cells<'static>> {
        if let Some(enumeration) = &self.enumeration {
            return self.write_positions(&vec![None; len], |_| Err(&[][..]), enumeration);
        }
        let is_no_time = !self.nullable && self.has_no_time() && self.number == CellValNum::ONE;
        let cell = if is_no_time { NO_TIME.to_le_bytes().to_vec() } else { vec![0; self.cell_size()] };
        let offsets = self.number.is_var().then(|| Cow::Owned(vec![0; len + 1]));
        let validity = (!is_no_time && len > 0).then(|| Cow::Owned(vec![0; len.div_ceil(8)]));
        Ok(Cells { values: Cow::Owned(cell.repeat(len)), offsets, validity })
    }

    /// Converts a plain column, for a field without an enumeration.
    pub(crate) fn plain<'a>(&self, array: &'a dyn arrow_array::Array) -> Result<Cells<'a>> {
        let per_cell = self.number.fixed();
        if let Some(cells) = self.bytes(array) {
            return Ok(cells);
        }
        let (values, offsets) = match (per_cell, array.data_type()) {
            (Some(number), DataType::FixedSizeList(_, size)) if i64::from(number) == i64::from(*size) => {
                let list = array.as_fixed_size_list();
                let size = number as usize;
                self.no_nulls_within(list, list.values(), |cell| cell * size..(cell + 1) * size)?;
                (self.numbers(list.values(), array.data_type(), &|value| value / size)?, None)
            }
            (None, DataType::List(_)) => {
                let list = array.as_list::<i32>();
                let offsets: Vec<u64> =
                    list.value_offsets().iter().map(|offset| u64::from(offset.unsigned_abs())).collect();
                (self.list(list, list.values(), &offsets)?, Some(Cow::Owned(offsets)))
            }
            (None, DataType::LargeList(_)) => {
                let list = array.as_list::<i64>();
                let offsets: &[u64] = bytemuck::cast_slice(list.value_offsets());
                (self.list(list, list.values(), offsets)?, Some(Cow::Borrowed(offsets)))
            }
            (Some(1), _) => {
                let values = self.numbers(array, array.data_type(), &|cell| cell)?;
                // Without validity, null has become "no time".
                let validity = if !self.nullable && self.has_no_time() { None } else { validity(array.nulls()) };
                return Ok(Cells { values, offsets: None, validity });
            }
            (_, data_type) => return Err(self.wrong_type(data_type)),
        };
        Ok(Cells { values, offsets, validity: validity(array.nulls()) })
    }

    /// Converts the values of lists of variable length.
    fn list<'a>(
        &self,
        list: &dyn arrow_array::Array,
        values: &'a dyn arrow_array::Array,
        offsets: &[u64],
    ) -> Result<Cow<'a, [u8]>> {
        self.no_nulls_within(list, values, |cell| offsets[cell] as usize..offsets[cell + 1] as usize)?;
        let cell_of = |value: usize| offsets.partition_point(|offset| *offset <= value as u64).saturating_sub(1);
        self.numbers(values, list.data_type(), &cell_of)
    }

    /// Rejects null values within valid cells. Dates and times pass, because null becomes "no
    /// time".
    fn no_nulls_within(
        &self,
        list: &dyn arrow_array::Array,
        values: &dyn arrow_array::Array,
        values_of: impl Fn(usize) -> std::ops::Range<usize>,
    ) -> Result<()> {
        let Some(nulls) = values.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(()) };
        if self.has_no_time() {
            return Ok(());
        }
        let has_null = |cell: &usize| list.is_valid(*cell) && values_of(*cell).any(|value| nulls.is_null(value));
        match (0..list.len()).find(has_null) {
            Some(cell) => Err(self.error(cell, Problem::NullInList)),
            None => Ok(()),
        }
    }

    fn error(&self, cell: usize, problem: Problem) -> Error {
        Error::Cell { field: self.name.to_owned(), cell, problem }
    }
}

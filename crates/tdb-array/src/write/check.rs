//! Columns against the schema: what can be told without comparing cells with each other.

use std::borrow::Cow;

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_fragment::FragmentField;
use tdb_schema::{ArraySchema, FieldRef, FieldType};
use tdb_types::Datatype;

use super::columns::{NewCells, NewColumn};
use crate::query::unknown_field;
use crate::{ArrayError, CellProblem, Result};

/// Cells whose columns fit the array and each other.
#[derive(Debug)]
pub(super) struct CheckedCells<'a> {
    /// How many there are.
    pub(super) len: usize,
    /// The fields that the array stores: attributes, then the dimensions of a sparse array.
    pub(super) fields: Vec<CheckedColumn<'a>>,
}

/// The cells of one field.
#[derive(Debug)]
pub(super) struct CheckedColumn<'a> {
    pub(super) field: FragmentField,
    /// Bytes of a cell; of a value, if cells differ in length.
    pub(super) size: usize,
    pub(super) values: &'a [u8],
    /// Where each cell begins in `values`, in bytes, and where the last one ends; ascending.
    pub(super) offsets: Option<Cow<'a, [u64]>>,
    /// One bit per cell, if some may be null.
    pub(super) validity: Option<&'a [u8]>,
}

impl CheckedColumn<'_> {
    /// The bytes of a cell.
    #[inline]
    pub(super) fn cell(&self, cell: usize) -> &[u8] {
        match &self.offsets {
            None => &self.values[cell * self.size..(cell + 1) * self.size],
            Some(offsets) => &self.values[offsets[cell] as usize..offsets[cell + 1] as usize],
        }
    }

    /// Whether a cell isn't null.
    #[inline]
    pub(super) fn is_valid(&self, cell: usize) -> bool {
        self.validity.is_none_or(|bits| bits.view_bits::<Lsb0>()[cell])
    }

    /// Appends the validity of some cells as tiles have it: a byte for each, 0 where it is null.
    pub(super) fn push_validity(&self, cells: impl ExactSizeIterator<Item = usize>, bytes: &mut Vec<u8>) {
        match self.validity.map(BitView::view_bits::<Lsb0>) {
            None => bytes.resize(bytes.len() + cells.len(), 1),
            Some(bits) => bytes.extend(cells.map(|cell| u8::from(bits[cell]))),
        }
    }
}

/// A field of which each cell has a value.
pub(super) struct StoredField<'s> {
    pub(super) field: FragmentField,
    pub(super) reference: FieldRef,
    pub(super) name: &'s str,
    pub(super) kind: FieldType,
}

/// The fields of which each cell has a value: all but the dimensions of dense arrays.
pub(super) fn stored_fields(schema: &ArraySchema) -> impl Iterator<Item = StoredField<'_>> {
    let attributes =
        (0..schema.attr_count()).map(|index| (FragmentField::Attribute(index), FieldRef::Attribute(index)));
    let dimensions = if schema.is_dense() { 0 } else { schema.dim_count() };
    let dimensions = (0..dimensions).map(|index| (FragmentField::Dimension(index), FieldRef::Dimension(index)));
    attributes.chain(dimensions).filter_map(|(field, reference)| {
        Some(StoredField { field, reference, name: schema.field_name(reference)?, kind: schema.field_type(reference)? })
    })
}

/// Checks columns, each cell by itself; `first` is the number of the first cell, and with `any_utf8` strings may be no UTF-8.
pub(super) fn check<'a>(
    schema: &ArraySchema,
    cells: &'a NewCells<'_>,
    first: u64,
    any_utf8: bool,
) -> Result<CheckedCells<'a>> {
    for (index, (name, _)) in cells.columns.iter().enumerate() {
        let stored =
            schema.field(name).is_some_and(|field| stored_fields(schema).any(|stored| stored.reference == field));
        if !stored {
            return Err(match schema.field(name) {
                None => unknown_field(schema, name),
                Some(_) => ArrayError::ColumnShape {
                    field: name.to_string(),
                    what: "a dense array stores no coordinates; they follow from the ranges and the order".to_owned(),
                },
            });
        }
        if cells.columns[..index].iter().any(|(other, _)| other == name) {
            return Err(ArrayError::RepeatedColumn { name: name.to_string() });
        }
    }
    let mut checked = CheckedCells { len: 0, fields: Vec::new() };
    for (place, StoredField { field, name, kind, .. }) in stored_fields(schema).enumerate() {
        let column = cells.columns.iter().find(|(given, _)| given == name);
        let (_, column) = column.ok_or_else(|| ArrayError::MissingColumn { name: name.to_owned() })?;
        let (len, column) = Checker { name, kind, first, any_utf8 }.column(field, column)?;
        if place == 0 {
            checked.len = len;
        } else if len != checked.len {
            let what = format!("{len} cells, but there are {} of the other fields", checked.len);
            return Err(ArrayError::ColumnShape { field: name.to_owned(), what });
        }
        checked.fields.push(column);
    }
    Ok(checked)
}

struct Checker<'n> {
    name: &'n str,
    kind: FieldType,
    first: u64,
    any_utf8: bool,
}

impl Checker<'_> {
    fn column<'a>(&self, field: FragmentField, column: &'a NewColumn<'_>) -> Result<(usize, CheckedColumn<'a>)> {
        let FieldType { datatype, cell_val_num, .. } = self.kind;
        let text = column.physical.is_some_and(|physical| physical.size() == 1) && datatype.size() == 1;
        if let Some(physical) = column.physical.filter(|physical| *physical != datatype.physical() && !text) {
            return Err(ArrayError::WrongType { field: self.name.to_owned(), datatype, asked: physical });
        }
        let value_size = datatype.size();
        let (len, size, offsets) = match (cell_val_num.fixed(), &column.offsets) {
            (Some(number), None) => {
                let size = value_size * number as usize;
                if !column.values.len().is_multiple_of(size) {
                    let what = format!("{} bytes are no whole number of cells of {size} bytes", column.values.len());
                    return Err(self.shape(what));
                }
                (column.values.len() / size, size, None)
            }
            (None, Some(offsets)) => (offsets.len().saturating_sub(1), value_size, Some(&**offsets)),
            (Some(_), Some(_)) => return Err(self.shape("offsets, but all cells have the same length".to_owned())),
            (None, None) => return Err(self.shape("no offsets, but cells differ in length".to_owned())),
        };
        let offsets = offsets.map(|offsets| self.offsets(offsets, &column.values)).transpose()?;
        let validity = self.validity(column, len)?;
        let column = CheckedColumn { field, size, values: &column.values, offsets, validity };
        if datatype == Datatype::StringUtf8 && !self.any_utf8 {
            self.check_utf8(&column, len)?;
        }
        Ok((len, column))
    }

    /// Offsets in bytes.
    fn offsets<'a>(&self, offsets: &'a [u64], values: &[u8]) -> Result<Cow<'a, [u64]>> {
        let size = self.kind.datatype.size();
        if !values.len().is_multiple_of(size) {
            return Err(self.shape(format!("{} bytes are no whole number of values of {size} bytes", values.len())));
        }
        let len = (values.len() / size) as u64;
        if offsets.is_empty() {
            return Err(self.shape("no offsets; there has to be one more than there are cells".to_owned()));
        }
        // All others are checked with the cells that they bound; the offset of no cells bounds none.
        if let [only] = offsets
            && *only > len
        {
            return Err(self.shape(format!("offset {only} of no cells, but there are {len} values")));
        }
        let wrong = |pair: &[u64]| pair[0] > pair[1] || pair[1] > len;
        if let Some(cell) = offsets.windows(2).position(wrong) {
            return Err(self.cell(cell, CellProblem::Offsets { start: offsets[cell], end: offsets[cell + 1], len }));
        }
        Ok(match size {
            1 => Cow::Borrowed(offsets),
            size => Cow::Owned(offsets.iter().map(|offset| offset * size as u64).collect()),
        })
    }

    fn validity<'a>(&self, column: &'a NewColumn<'_>, len: usize) -> Result<Option<&'a [u8]>> {
        let Some(bits) = &column.validity else { return Ok(None) };
        if bits.len() < len.div_ceil(8) {
            return Err(self.shape(format!("{} bytes of validity are too few for {len} cells", bits.len())));
        }
        if self.kind.nullable {
            return Ok(Some(bits));
        }
        match bits.view_bits::<Lsb0>()[..len].first_zero() {
            Some(cell) => Err(self.cell(cell, CellProblem::Null)),
            None => Ok(None),
        }
    }

    fn check_utf8(&self, column: &CheckedColumn<'_>, len: usize) -> Result<()> {
        // Mostly all of it is valid, and cells end with characters.
        if let (Ok(text), Some(offsets)) = (std::str::from_utf8(column.values), &column.offsets)
            && offsets.iter().all(|offset| text.is_char_boundary(*offset as usize))
        {
            return Ok(());
        }
        let wrong = |cell: &usize| column.is_valid(*cell) && std::str::from_utf8(column.cell(*cell)).is_err();
        match (0..len).find(wrong) {
            Some(cell) => Err(self.cell(cell, CellProblem::NotUtf8)),
            None => Ok(()),
        }
    }

    fn shape(&self, what: String) -> ArrayError {
        ArrayError::ColumnShape { field: self.name.to_owned(), what }
    }

    fn cell(&self, cell: usize, problem: CellProblem) -> ArrayError {
        ArrayError::Cell { field: self.name.to_owned(), cell: self.first + cell as u64, problem }
    }
}

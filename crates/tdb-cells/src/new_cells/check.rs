//! Checks of new cells. Each cell is checked separately.

use bitvec::order::Lsb0;
use bitvec::view::BitView;
use tdb_schema::FieldType;
use tdb_types::{Cells, Datatype};

use super::WriteColumn;
use crate::{CellProblem, CellsError, Result};

/// Returns the cells of a column if they match the field type. Accepts any bytes in strings.
///
/// # Errors
/// The errors of [`Checker::column`].
pub fn check_column<'a>(name: &str, kind: FieldType, column: &'a WriteColumn<'_>) -> Result<Cells<'a>> {
    Checker { name, kind, first: 0, any_utf8: true }.column(column)
}

/// The checks of the new cells of a field. Each cell is checked separately.
#[derive(Debug)]
pub struct Checker<'n> {
    /// The name of the field, for errors.
    pub name: &'n str,
    /// The type of the field.
    pub kind: FieldType,
    /// The index of the first cell, for errors.
    pub first: u64,
    /// `true` to accept strings with invalid UTF-8.
    pub any_utf8: bool,
}

impl Checker<'_> {
    /// Returns the cells of a column if they match the field type.
    ///
    /// # Errors
    /// - [`CellsError::WrongType`] if the values are of another type than the field.
    /// - [`CellsError::ColumnShape`] if the values, offsets or validity do not form cells of the
    ///   field.
    /// - [`CellsError::Cell`] if a cell is null in a field that is not nullable, has invalid
    ///   offsets, or is not valid UTF-8.
    pub fn column<'a>(&self, column: &'a WriteColumn<'_>) -> Result<Cells<'a>> {
        let FieldType { datatype, cell_val_num, .. } = self.kind;
        let text = column.physical.is_some_and(|physical| physical.size() == 1) && datatype.size() == 1;
        if let Some(physical) = column.physical.filter(|physical| *physical != datatype.physical() && !text) {
            return Err(CellsError::WrongType { field: self.name.to_owned(), datatype, asked: physical });
        }
        let value_size = datatype.size();
        let size = match (cell_val_num.fixed(), &column.offsets) {
            (Some(number), None) => {
                let size = value_size * number as usize;
                if !column.values.len().is_multiple_of(size) {
                    let what =
                        format!("{} bytes are not a multiple of the cell size of {size} bytes", column.values.len());
                    return Err(self.shape(what));
                }
                size
            }
            (None, Some(offsets)) => {
                self.check_offsets(offsets, &column.values)?;
                value_size
            }
            (Some(_), Some(_)) => {
                return Err(self.shape("unexpected offsets, since all cells have the same length".to_owned()));
            }
            (None, None) => return Err(self.shape("missing offsets, since cells have variable length".to_owned())),
        };
        let mut cells = column.cells(size);
        self.check_validity(column, cells.len())?;
        if !self.kind.nullable {
            cells = cells.with_validity(None);
        }
        if datatype == Datatype::StringUtf8 && !self.any_utf8 {
            self.check_utf8(&cells)?;
        }
        Ok(cells)
    }

    fn check_offsets(&self, offsets: &[u64], values: &[u8]) -> Result<()> {
        let size = self.kind.datatype.size();
        if !values.len().is_multiple_of(size) {
            return Err(
                self.shape(format!("{} bytes are not a multiple of the value size of {size} bytes", values.len()))
            );
        }
        let len = (values.len() / size) as u64;
        if offsets.is_empty() {
            return Err(self.shape("missing offsets; expected one more than the number of cells".to_owned()));
        }
        // The only offset of a column without cells bounds no cell, and the check of cells below
        // does not cover it.
        if let [only] = offsets
            && *only > len
        {
            return Err(self.shape(format!("found offset {only} and {len} values, but no cells")));
        }
        let wrong = |pair: &[u64]| pair[0] > pair[1] || pair[1] > len;
        match offsets.windows(2).position(wrong) {
            Some(cell) => {
                Err(self.cell(cell, CellProblem::Offsets { start: offsets[cell], end: offsets[cell + 1], len }))
            }
            None => Ok(()),
        }
    }

    fn check_validity(&self, column: &WriteColumn<'_>, len: usize) -> Result<()> {
        let Some(bits) = &column.validity else { return Ok(()) };
        if bits.len() < len.div_ceil(8) {
            return Err(self.shape(format!("found {} bytes of validity, too few for {len} cells", bits.len())));
        }
        match bits.view_bits::<Lsb0>()[..len].first_zero() {
            Some(cell) if !self.kind.nullable => Err(self.cell(cell, CellProblem::Null)),
            _ => Ok(()),
        }
    }

    fn check_utf8(&self, cells: &Cells<'_>) -> Result<()> {
        // Usually all strings are valid, and cells end at character boundaries.
        if let (Ok(text), Some(offsets)) = (std::str::from_utf8(cells.bytes()), cells.offsets())
            && offsets.moved_to(0).all(|offset| text.is_char_boundary(offset as usize))
        {
            return Ok(());
        }
        let wrong = |cell: &usize| cells.is_valid(*cell) && std::str::from_utf8(cells.cell(*cell)).is_err();
        match (0..cells.len()).find(wrong) {
            Some(cell) => Err(self.cell(cell, CellProblem::NotUtf8)),
            None => Ok(()),
        }
    }

    fn shape(&self, what: String) -> CellsError {
        CellsError::ColumnShape { field: self.name.to_owned(), what }
    }

    fn cell(&self, cell: usize, problem: CellProblem) -> CellsError {
        CellsError::Cell { field: self.name.to_owned(), cell: self.first + cell as u64, problem }
    }
}
